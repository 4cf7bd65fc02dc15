import { UNFINISHED_STATUSES } from "../../store/instances/instance-records.ts";
import { VERSION } from "../../version.ts";
import { readWorkers, type WireWorker } from "../commands/workers.ts";
import type { Target } from "../targets/target.ts";
import { showSpan } from "../terminal/times.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

interface Statistics {
  readonly hooks: {
    readonly pending: number;
    readonly due: number;
    readonly processing: number;
    readonly failed: number;
    readonly oldestDueMs: number | null;
  };
  readonly instances?: { readonly workflows: Readonly<Record<string, Readonly<Record<string, number>>>> };
}

interface Versions {
  readonly versions: readonly {
    readonly version: number | null;
    readonly unfinished: number;
    readonly registered: boolean;
  }[];
}

/** Work that has been due for longer isn't only waiting for a free slot. */
const LONG_MS = 60_000;
const SAMPLE = 1000;
const MOST_NAMED = 20;

/** Checks whether the work is done: over HTTP, so on servers, too. */
export async function checkWork(target: Target): Promise<Finding[]> {
  const [{ workers }, statistics] = await Promise.all([readWorkers(target), target.get<Statistics>(["stats"])]);
  const alive = workers.filter((worker) => worker.alive);
  const unfinished = Object.entries(statistics.instances?.workflows ?? {})
    .map(([name, counts]) => [name, sum(UNFINISHED_STATUSES.map((status) => counts[status] ?? 0))] as const)
    .filter(([, count]) => count > 0);
  return [
    ...checkWorkers(workers, alive, statistics.hooks.pending + sum(unfinished.map(([, count]) => count))),
    ...checkDue(statistics),
    ...(await checkDueInstances(target)),
    ...checkNames(alive, unfinished, await pendingHookNames(target)),
    ...(await checkVersions(
      target,
      unfinished.map(([name]) => name),
    )),
  ];
}

function checkWorkers(workers: readonly WireWorker[], alive: readonly WireWorker[], waiting: number): Finding[] {
  const next = "Start a process that runs it: perdure start app.ts. See perdure workers list.";
  if (alive.length === 0 && waiting > 0)
    return [
      failed(
        "workers",
        `none is alive, and ${many(waiting, "hook or instance isn't", "hooks and instances aren't")} finished`,
        next,
      ),
    ];
  if (alive.length === 0) return [warning("workers", "none is alive; there is no work at present", next)];
  const dead = workers.length - alive.length;
  const versions = [...new Set(alive.map(({ version }) => version))].sort();
  const others = versions.filter((version) => version !== VERSION);
  return [
    ok("workers", `${alive.length} alive${dead === 0 ? "" : `, ${dead} died within a day`}`),
    others.length === 0
      ? ok("versions", `the workers and this command are perdure ${VERSION}`)
      : warning(
          "versions",
          `workers have perdure ${versions.join(", ")}, and this command ${VERSION}`,
          "Finish the deployment, or use the same version here.",
        ),
  ];
}

function checkDue({ hooks }: Statistics): Finding[] {
  const oldest = hooks.oldestDueMs ?? 0;
  const due =
    oldest > LONG_MS
      ? warning(
          "due hooks",
          `${many(hooks.due, "is", "are")} due, the oldest for ${showSpan(oldest)}`,
          "See why: perdure hooks list --status pending --oldest, and perdure explain.",
        )
      : ok("due hooks", `${hooks.due} due, ${hooks.processing} running`);
  const dead =
    hooks.failed > 0
      ? warning(
          "dead letters",
          `${many(hooks.failed, "hook has", "hooks have")} failed for good`,
          "See perdure hooks list --status failed; then redrive or discard them.",
        )
      : ok("dead letters", "none");
  return [due, dead];
}

/** Only a process with the database itself can see how long instances have been due. */
async function checkDueInstances({ app }: Target): Promise<Finding[]> {
  if (app === null) return [];
  const { store, namespace } = app.parts;
  const { due, running, oldestDueMs } = (await store.engine.backlog.read(namespace, COUNTED)).instances;
  const oldest = oldestDueMs ?? 0;
  const atLeast = due === COUNTED.lane ? "at least " : "";
  if (oldest <= LONG_MS) return [ok("due instances", `${atLeast}${due} due, ${running} running`)];
  const next = "See why: perdure workflows list --status queued --oldest, and perdure explain.";
  return [
    warning("due instances", `${atLeast}${many(due, "is", "are")} due, the oldest for ${showSpan(oldest)}`, next),
  ];
}

/** Counts are exact up to these. */
const COUNTED = { lane: 1000, deadLetters: 1000 };

/** Names that are stored and that no living worker has: their work waits for ever. */
function checkNames(
  alive: readonly WireWorker[],
  unfinished: readonly (readonly [string, number])[],
  hooks: ReadonlySet<string>,
): Finding[] {
  if (alive.length === 0) return [];
  const workflows = unfinished.filter(([name]) => !alive.some((worker) => worker.workflows.includes(name)));
  const unknown = [...hooks].filter(
    (name) => !name.startsWith("$") && !alive.some((worker) => worker.hooks.includes(name)),
  );
  const named = [...workflows.map(([name, count]) => `${name} (${many(count, "instance", "instances")})`), ...unknown];
  if (named.length === 0) return [ok("names", "a worker has each name that is waiting")];
  const next = "Deploy the code that has them; or terminate or cancel what is left of them.";
  return [failed("names", `no living worker has ${named.slice(0, MOST_NAMED).join(", ")}`, next)];
}

/** Of the hooks that have waited longest. */
async function pendingHookNames(target: Target): Promise<ReadonlySet<string>> {
  const query = { status: "pending", order: "oldest", limit: SAMPLE };
  const { hooks } = await target.get<{ hooks: readonly { name: string }[] }>(["hooks"], query);
  return new Set(hooks.map(({ name }) => name));
}

/** Which versions must stay deployed. */
async function checkVersions(target: Target, workflows: readonly string[]): Promise<Finding[]> {
  const inUse: string[] = [];
  const missing: string[] = [];
  for (const name of workflows.slice(0, MOST_NAMED)) {
    const { versions } = await target.get<Versions>(["workflows", name, "versions"]);
    const registered = versions.some((one) => one.registered);
    for (const one of versions.filter(({ unfinished }) => unfinished > 0)) {
      const shown = `${name} ${one.version === null ? "without a version" : `version ${one.version}`}: ${one.unfinished}`;
      (registered && !one.registered ? missing : inUse).push(shown);
    }
  }
  const next = "Register these versions, too, until their instances are finished.";
  return [
    ...(inUse.length === 0 ? [] : [ok("versions in use", inUse.join("; "))]),
    ...(missing.length === 0 ? [] : [failed("versions in use", `the code lacks ${missing.join("; ")}`, next)]),
  ];
}

function many(count: number, one: string, others: string): string {
  return `${count} ${count === 1 ? one : others}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
