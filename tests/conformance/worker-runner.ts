import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare, type V4MiniflareOptions } from "miniflare";
import type { Answer, Call } from "./answer.ts";
import type { Runner } from "./run-program.ts";

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
      compatibilityFlags: ["nodejs_compat", "workflows_preserve_non_retryable_error_message"],
      ...bindings,
    };
    return new WorkerRunner(new Miniflare(convertV4MiniflareOptions(options as V4MiniflareOptions)));
  }

  close(): Promise<void> {
    return this.#miniflare.dispose();
  }

  async ask(call: Call): Promise<Answer> {
    const response = await this.#miniflare.dispatchFetch("http://worker/", {
      method: "POST",
      body: JSON.stringify(call),
    });
    return (await response.json()) as Answer;
  }
}
