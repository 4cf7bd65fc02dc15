import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { waitUntil } from "../support/wait-until.ts";
import { FINISHED, type Outcome, type Runner, toOutcome } from "./outcome.ts";
import type { Program } from "./programs.ts";

interface OracleStatus {
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
  /** The local engine tells what steps gave. */
  readonly __LOCAL_DEV_STEP_OUTPUTS: readonly unknown[];
}

/** Cloudflare's own engine, as it runs on a developer's machine. */
export class Oracle implements Runner {
  readonly #miniflare: Miniflare;

  private constructor(miniflare: Miniflare) {
    this.#miniflare = miniflare;
  }

  static async start(): Promise<Oracle> {
    const entry = fileURLToPath(new URL("./oracle-worker.ts", import.meta.url));
    const built = await build({
      entryPoints: [entry],
      bundle: true,
      format: "esm",
      write: false,
      external: ["cloudflare:*"],
    });
    const options = {
      modules: true as const,
      script: built.outputFiles[0]?.text ?? "",
      compatibilityDate: "2026-09-01",
      workflows: { PROGRAMS: { name: "programs", className: "ProgramWorkflow" } },
    };
    return new Oracle(new Miniflare(convertV4MiniflareOptions(options)));
  }

  async run(program: Program): Promise<Outcome> {
    const { id } = await this.#ask<{ id: string }>({ create: { params: { program: program.name } } });
    for (const event of program.events ?? []) await this.#ask({ id, event });
    return waitUntil(`"${program.name}" has ended`, async () => {
      const { __LOCAL_DEV_STEP_OUTPUTS: steps, ...status } = await this.#ask<OracleStatus>({ id });
      return FINISHED.includes(status.status) ? toOutcome({ ...status, steps }) : undefined;
    });
  }

  close(): Promise<void> {
    return this.#miniflare.dispose();
  }

  async #ask<Answer>(question: object): Promise<Answer> {
    const response = await this.#miniflare.dispatchFetch("http://oracle/", {
      method: "POST",
      body: JSON.stringify(question),
    });
    return (await response.json()) as Answer;
  }
}
