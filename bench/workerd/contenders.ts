import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare, type V4MiniflareOptions } from "miniflare";

/** An engine in workerd, whose storage is on disk. */
export interface WorkerdContender {
  readonly name: string;
  readonly role: "ours" | "peer";
  open(directory: string): Promise<WorkerdSession>;
}

export interface WorkerdSession extends AsyncDisposable {
  /** Starts this many three-step workflows at once, and resolves when all are complete. */
  runMany(count: number): Promise<void>;
}

export const CONTENDERS: readonly WorkerdContender[] = [
  { name: "perdure (8 objects)", role: "ours", open: (directory) => openPerdure(directory, 8) },
  { name: "perdure (one object)", role: "ours", open: (directory) => openPerdure(directory, 1) },
  {
    name: "miniflare's workflows",
    role: "peer",
    open: (directory) =>
      open("cloudflare", { workflows: { ORDERS: { name: "orders", className: "OrderWorkflow" } } }, directory, {}),
  },
];

function openPerdure(directory: string, shards: number): Promise<WorkerdSession> {
  const durableObjects = { OBJECTS: { className: "Orders", useSQLite: true } };
  return open("perdure", { durableObjects }, directory, { shards });
}

async function open(
  worker: string,
  bindings: Partial<V4MiniflareOptions>,
  directory: string,
  parameters: object,
): Promise<WorkerdSession> {
  const entry = fileURLToPath(new URL(`./workers/${worker}.ts`, import.meta.url));
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    write: false,
    external: ["cloudflare:*"],
  });
  const options = {
    modules: true,
    script: built.outputFiles[0]?.text ?? "",
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["nodejs_compat"],
    durableObjectsPersist: directory,
    workflowsPersist: directory,
    ...bindings,
  };
  const miniflare = new Miniflare(convertV4MiniflareOptions(options as V4MiniflareOptions));
  await miniflare.ready;
  return {
    runMany: async (count) => {
      const body = JSON.stringify({ count, ...parameters });
      const response = await miniflare.dispatchFetch("http://worker/", { method: "POST", body });
      if (!response.ok)
        throw new Error(`It answered with ${response.status}: ${(await response.text()).slice(0, 300)}`);
    },
    [Symbol.asyncDispose]: () => miniflare.dispose(),
  };
}
