import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare, type V4MiniflareOptions } from "miniflare";
import { waitUntil } from "../support/wait-until.ts";
import { FINISHED, type Outcome, type Runner, toOutcome } from "./outcome.ts";
import type { Program } from "./programs.ts";

interface WorkerStatus {
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
  readonly steps?: readonly unknown[];
  /** Cloudflare's local engine tells what steps gave. */
  readonly __LOCAL_DEV_STEP_OUTPUTS?: readonly unknown[];
}

/** Programs in workerd: on Cloudflare's own engine, as it runs on a developer's machine, or on ours in a Durable Object. */
export class WorkerRunner implements Runner {
  readonly #miniflare: Miniflare;

  private constructor(miniflare: Miniflare) {
    this.#miniflare = miniflare;
  }

  static oracle(): Promise<WorkerRunner> {
    return WorkerRunner.#start("oracle", {
      workflows: { PROGRAMS: { name: "programs", className: "ProgramWorkflow" } },
    });
  }

  static object(): Promise<WorkerRunner> {
    return WorkerRunner.#start("object", { durableObjects: { OBJECTS: { className: "Programs", useSQLite: true } } });
  }

  static async #start(worker: string, bindings: Partial<V4MiniflareOptions>): Promise<WorkerRunner> {
    const entry = fileURLToPath(new URL(`./workers/${worker}.ts`, import.meta.url));
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
      compatibilityDate: "2026-01-01",
      compatibilityFlags: ["nodejs_compat"],
      ...bindings,
    };
    return new WorkerRunner(new Miniflare(convertV4MiniflareOptions(options as V4MiniflareOptions)));
  }

  async run(program: Program): Promise<Outcome> {
    const { id } = await this.#ask<{ id: string }>({ create: { params: { program: program.name } } });
    for (const event of program.events ?? []) await this.#ask({ id, event });
    return waitUntil(`"${program.name}" has ended`, async () => {
      const {
        __LOCAL_DEV_STEP_OUTPUTS: theirs = [],
        steps = theirs,
        ...status
      } = await this.#ask<WorkerStatus>({ id });
      return FINISHED.includes(status.status) ? toOutcome({ ...status, steps }) : undefined;
    });
  }

  close(): Promise<void> {
    return this.#miniflare.dispose();
  }

  async #ask<Answer>(question: object): Promise<Answer> {
    const response = await this.#miniflare.dispatchFetch("http://worker/", {
      method: "POST",
      body: JSON.stringify(question),
    });
    return (await response.json()) as Answer;
  }
}
