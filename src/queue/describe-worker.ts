import type { WorkerInsert, WorkerNames } from "../store/workers/worker-records.ts";
import { VERSION } from "../version.ts";
import type { Owner } from "./owner.ts";
import type { ProcessorSource } from "./processor.ts";
import { type Capacity, capacityFor } from "./worker-pool.ts";

/** The most names of hooks, and of workflows, that a worker says it has in one namespace. */
const MOST_NAMES = 1000;

/** What operators see of a worker that runs these sources. */
export function describeWorker(
  { name: id, host, pid = null }: Pick<Owner, "name" | "pid"> & { readonly host: string },
  concurrency: Capacity,
  sources: readonly ProcessorSource[],
): WorkerInsert {
  const namespaces = [...new Set(sources.flatMap((source) => source.namespaces))];
  const namesIn = (namespace: string): WorkerNames => {
    const ofKind = (kind: ProcessorSource["kind"]) =>
      sources.filter((source) => source.kind === kind).flatMap((source) => source.registered?.(namespace) ?? []);
    return { hooks: ofKind("hook").slice(0, MOST_NAMES), workflows: ofKind("instance").slice(0, MOST_NAMES) };
  };
  return {
    id,
    host,
    pid,
    version: VERSION,
    concurrency: { hooks: capacityFor(concurrency, "hook"), workflows: capacityFor(concurrency, "instance") },
    work: Object.fromEntries(namespaces.map((namespace) => [namespace, namesIn(namespace)])),
  };
}

/** Whether a worker may run a name, by the names of that kind that it lists: with very many, it doesn't list them all. */
export function listsName(listed: readonly string[] = [], name: string): boolean {
  return listed.length >= MOST_NAMES || listed.includes(name);
}
