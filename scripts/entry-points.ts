/** The entry points of the package as the exports of package.json list them, each with the source that it is built from. */
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Where programs that run from source find the built page of the dashboard: see `build-page.ts`. */
export const PAGE: string = `${root}node_modules/.cache/perdure/dashboard-page.js`;

export interface EntryPoint {
  /** As users import it: `perdure/sqlite`. */
  readonly specifier: string;
  /** Its path in `dist` and in `src`, without the extension: `store/sqlite/index`. */
  readonly path: string;
  /** The absolute path of its source. */
  readonly source: string;
}

type Target = string | { readonly default: string; readonly workerd?: { readonly default: string } };

function toEntryPoint(subpath: string, output: string): EntryPoint {
  const path = output.replace(/^\.\/dist\//, "").replace(/\.js$/, "");
  return { specifier: subpath.replace(/^\./, manifest.name), path, source: `${root}src/${path}.ts` };
}

/** What the program `perdure` is built from. */
export const PROGRAM: string = manifest.bin.perdure.replace(/^\.\/dist\//, "").replace(/\.js$/, "");

const targets = Object.entries(manifest.exports as Record<string, Target>);

/** One for each subpath, as Node resolves it. */
export const entryPoints: readonly EntryPoint[] = targets.flatMap(([subpath, target]) =>
  typeof target === "string" ? [] : [toEntryPoint(subpath, target.default)],
);

/** The entry points that a Worker gets instead. */
export const workerEntryPoints: readonly EntryPoint[] = targets.flatMap(([subpath, target]) =>
  typeof target === "string" || target.workerd === undefined ? [] : [toEntryPoint(subpath, target.workerd.default)],
);
