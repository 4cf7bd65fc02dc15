import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll } from "vitest";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** A real workerd with the Worker of program.ts, on storage that outlives it. */
export function useWorkerd(): WorkerdUnderTest {
  const subject = new WorkerdUnderTest();
  beforeAll(async () => {
    await subject.bundle();
    await subject.start();
  });
  afterAll(() => subject.dispose());
  return subject;
}

export class WorkerdUnderTest {
  readonly #directory = mkdtempSync(join(tmpdir(), "perdure-workerd-"));
  /** What the Worker asked of the rest of the world. */
  readonly requests: string[] = [];
  #script = "";
  #workerd: Miniflare | undefined;

  async bundle(): Promise<void> {
    const { outputFiles } = await build({
      entryPoints: [path("program.ts")],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      conditions: ["workerd", "worker", "browser"],
      external: ["cloudflare:*"],
      alias: {
        perdure: path("../../../src/everywhere.ts"),
        "perdure/durable-object": path("../../../src/durable-object/index.ts"),
      },
    });
    this.#script = outputFiles[0]?.text as string;
  }

  async start(): Promise<void> {
    const options = convertV4MiniflareOptions({
      modules: true,
      script: this.#script,
      compatibilityDate: "2026-01-01",
      durableObjects: { SHOP: { className: "Shop", useSQLite: true } },
      outboundService: ({ url }: { readonly url: string }) => {
        this.requests.push(new URL(url).pathname);
        return new Response("ok") as never;
      },
    });
    const stored = {
      resourcePersistencePath: this.#directory,
      isolatedResourcePersistencePath: this.#directory,
    };
    this.#workerd = new Miniflare({ ...options, ...stored });
    await this.#workerd.ready;
  }

  async restart(): Promise<void> {
    await this.#workerd?.dispose();
    await this.start();
  }

  async ask(url: string): Promise<Record<string, unknown>> {
    const response = await this.#workerd?.dispatchFetch(`http://shop${url}`);
    if (response?.ok !== true) throw new Error(`${url}: ${response?.status} ${await response?.text()}`);
    return (await response.json()) as Record<string, unknown>;
  }

  async dispose(): Promise<void> {
    await this.#workerd?.dispose();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
