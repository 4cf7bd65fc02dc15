import type { ChunkingContext, CodeSplittingGroup } from "rolldown";
import { entryPoints, root, workerEntryPoints } from "./entry-points.ts";

interface Chunk {
  readonly name: string;
  /** Whether a module belongs to it, by the entry points that need the module. */
  readonly has: (isNeededBy: (entryPoint: string) => boolean) => boolean;
}

/**
 * The chunks that entry points share. A module goes to the first chunk that has it; a module that none has goes where only the
 * entry points that need it load it.
 *
 * Few files load fast, and a small entry point loads little code: so one chunk is for the smallest entry points, one for
 * everything else that runs everywhere, and one each for the code that engines, users of SQLite, applications, and these with
 * the program `perdure` share. Every module of a chunk that Workers load is one that Workers need, so none of them imports
 * `node:*`.
 */
const CHUNKS: readonly Chunk[] = [
  { name: "base", has: (by) => by("everywhere") && (by("client/index") || by("cloudflare/index")) },
  { name: "core", has: (by) => by("everywhere") },
  { name: "engine", has: (by) => by("store/sqlite/index") && by("store/postgres/index") },
  { name: "sqlite-engine", has: (by) => by("store/sqlite/index") && by("durable-object/index") },
  { name: "application", has: (by) => by("index") && by("durable-object/index") },
  { name: "process", has: (by) => by("index") && !by("dispatchers/node") && !by("flo/index") },
];

/** These are bundles of their own: in a chunk, one of them would make another load all of it. */
const ENTRIES = new Set([...entryPoints, ...workerEntryPoints].map(({ source }) => source));

/**
 * The chunks as the bundler wants them. A module that a chunk's module needs is in that chunk, or in one with a higher
 * priority.
 */
export function createChunkGroups(): CodeSplittingGroup[] {
  const needed = new Map<string, ReadonlySet<string>>();
  return CHUNKS.map(({ name, has }, index) => ({
    debugName: name,
    priority: CHUNKS.length - index,
    name: (id, context) => {
      const isNeededBy = (entryPoint: string) => {
        const source = `${root}src/${entryPoint}.ts`;
        const modules = needed.get(source) ?? findModules(source, context);
        needed.set(source, modules);
        return id !== source && modules.has(id);
      };
      return !ENTRIES.has(id) && has(isNeededBy) ? name : null;
    },
  }));
}

/** All modules that a module imports, directly or not, without those that it loads later. */
function findModules(source: string, context: ChunkingContext): ReadonlySet<string> {
  const modules = new Set([source]);
  for (const module of modules) {
    for (const imported of context.getModuleInfo(module)?.importedIds ?? []) modules.add(imported);
  }
  return modules;
}
