import type { Entry } from "../../ledger.ts";
import type { Account, Problem } from "../../workload.ts";
import { WAYS } from "./produce.ts";

/** An instance as the database has it at the end. */
export interface CollectedShared {
  readonly id: string;
  readonly status: string;
  /** The token of the call that created it. */
  readonly by: string | null;
}

interface Line extends Record<string, number> {
  calls: number;
  accepted: number;
  unknown: number;
  "not taken": number;
  shared: number;
  lost: number;
}

const DEADLOCK = "40P01";

/** Compares the answers to callers of the same ids with what exists. Calls are counted for each of their ids. */
export function accountForShared(entries: readonly Entry[], collected: readonly CollectedShared[]): Account {
  const table = Object.fromEntries(WAYS.map((way) => [way, emptyLine()]));
  const problems: Problem[] = [];
  const inTheEnd = new Map(collected.map((one) => [one.id, one]));
  for (const [id, story] of Map.groupBy(entries, ({ item }) => item)) {
    const times = (did: string) => story.filter((one) => one.did === did).length;
    const line = table[story[0]?.way as string] as Line;
    line.calls += times("asked");
    line.accepted += times("accepted");
    line.unknown += times("unknown");
    line["not taken"] += times("refused");
    if (times("asked") > 1) line.shared++;
    const instance = inTheEnd.get(id);
    if (times("accepted") > 0 && instance === undefined) line.lost++;
    problems.push(...check(id, story, instance));
  }
  return { table, problems };
}

function emptyLine(): Line {
  return { calls: 0, accepted: 0, unknown: 0, "not taken": 0, shared: 0, lost: 0 };
}

function* check(id: string, story: readonly Entry[], instance: CollectedShared | undefined): Generator<Problem> {
  const accepted = story.filter(({ did }) => did === "accepted");
  if (accepted.length > 0 && instance === undefined) {
    yield problem("nothing accepted is lost", `${id} was accepted ${accepted.length} times, and isn't there`, id);
  }
  if (instance !== undefined && instance.status !== "complete") {
    yield problem("database errors fail no instance", `${id} is ${instance.status}`, id);
  }
  for (const { by, created } of accepted) {
    const own = instance?.by === by;
    if (typeof created !== "boolean" || created === own || instance === undefined) continue;
    const details = `${by} was told that it ${created ? "has" : "hasn't"} created ${id}, which ${instance.by} created`;
    yield problem("each id is created once, and by one caller", details, id);
  }
  for (const { did, by, state, message } of story) {
    if (did !== "refused" && state !== DEADLOCK) continue;
    yield problem("writers of the same ids don't fail, whatever their order", `${by} was told: ${message}`, id);
  }
}

function problem(promise: string, details: string, id: string): Problem {
  return { promise, details, items: [id] };
}
