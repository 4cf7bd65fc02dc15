import {
  type InstanceCommit,
  type InstanceCommitResult,
  type InstanceOutcome,
  type NewEntry,
  toEndNotice,
} from "../../instances/instance-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SqliteDriver } from "../drivers/driver.ts";
import { hookValues, INSERT_HOOK } from "../sql/hooks-trigger.ts";
import {
  BEGIN_ROLLBACK,
  FIND_EXCEPTIONS,
  FIND_RUN,
  FINISH_INSTANCE,
  PARK_INSTANCE,
  RELEASE_INSTANCE,
} from "../sql/instances-commit.ts";
import { DELETE_ENTRIES, INSERT_ENTRY } from "../sql/journal.ts";
import { freeSlot } from "./lines.ts";
import { tellWaiters } from "./waiters.ts";

const SUPERSEDED: InstanceCommitResult = { result: "superseded" };

interface Circumstances {
  readonly resent: boolean;
  readonly now: number;
}

/** In one transaction. The results are in the order of the commits. */
export function commitInstances(
  driver: SqliteDriver,
  commits: readonly InstanceCommit[],
  circumstances: Circumstances,
): InstanceCommitResult[] {
  const plain = circumstances.resent ? null : findPlain(driver, commits);
  if (plain === null) return commits.map((commit) => commitInstance(driver, commit, circumstances));
  const results = new Map<InstanceCommit, InstanceCommitResult>();
  // First those about which everything is known: the others may wake or free them.
  for (const commit of plain) results.set(commit, writeCommit(driver, commit, PLAIN, circumstances));
  return commits.map((commit) => results.get(commit) ?? commitInstance(driver, commit, circumstances));
}

/** Those that their owners hold without anything in particular; null where it isn't worth a question. */
function findPlain(driver: SqliteDriver, commits: readonly InstanceCommit[]): InstanceCommit[] | null {
  if (commits.length === 1 || new Set(commits.map(({ ref }) => ref)).size < commits.length) return null;
  return groupByLease(commits).flatMap((alike) => {
    const [{ lock, run }] = alike as [InstanceCommit];
    if (alike.length === 1) return [];
    const exceptions = driver.all(FIND_EXCEPTIONS, [JSON.stringify(alike.map(({ ref }) => ref)), lock, run]);
    if (exceptions.length === 0) return alike;
    const indexes = new Set(exceptions.map(({ index }) => Number(index)));
    return alike.filter((_, index) => !indexes.has(index));
  });
}

/** Those that were born claimed by one worker share a token, and are most. */
function groupByLease(commits: readonly InstanceCommit[]): (readonly InstanceCommit[])[] {
  const [first] = commits;
  if (commits.every(({ lock, run }) => lock === first?.lock && run === first.run)) return [commits];
  return [...Map.groupBy(commits, ({ lock, run }) => `${run} ${lock}`).values()];
}

/** What a commit needs to know of its instance. */
interface FoundRun {
  readonly wakes: number;
  readonly paused: boolean;
  readonly slotKey: string | null;
  readonly waiters: string | null;
}

const PLAIN: FoundRun = { wakes: 0, paused: false, slotKey: null, waiters: null };

/**
 * Inside a transaction, so no other write comes between reading and writing. Parking and finishing leave the token where it
 * was: that is how a commit that is sent again knows that it was applied.
 */
export function commitInstance(
  driver: SqliteDriver,
  commit: InstanceCommit,
  circumstances: Circumstances,
): InstanceCommitResult {
  const [found] = driver.all(FIND_RUN, [commit.ref, commit.run]);
  if (found === undefined || found.lock !== commit.lock) return SUPERSEDED;
  const { resent, now } = circumstances;
  const run = {
    wakes: Number(found.wakes),
    paused: Boolean(found.paused),
    slotKey: found.slot_key as string | null,
    waiters: found.waiters as string | null,
  };
  if (Number(found.class) === WorkClass.leased) return writeCommit(driver, commit, run, circumstances);
  return resent ? { result: "written", at: now, wakes: run.wakes, paused: run.paused } : SUPERSEDED;
}

/** Its sender holds the instance. */
function writeCommit(
  driver: SqliteDriver,
  commit: InstanceCommit,
  { wakes, paused, slotKey, waiters }: FoundRun,
  { resent, now }: Circumstances,
): InstanceCommitResult {
  const written = { result: "written", at: now, wakes, paused } as const;
  if (!insertEntries(driver, commit, { resent, now })) return SUPERSEDED;
  writeOutcome(driver, commit, now);
  const { kind } = commit.outcome;
  const letsGo = kind !== "running" && kind !== "rollingBack";
  if (slotKey !== null && letsGo) freeSlot(driver, slotKey, now);
  if (commit.hook !== undefined) driver.run(INSERT_HOOK, hookValues(commit.hook, now));
  if (waiters === null) return written;
  const end = toEndNotice(commit.instance, commit, commit.outcome);
  return end === null ? written : { ...written, woken: tellWaiters(driver, waiters, end, now) };
}

/** All or none. Only the owner adds to a journal, so what a commit finds there when it is sent again is its own. */
function insertEntries(
  driver: SqliteDriver,
  { ref, run, position, entries }: InstanceCommit,
  { resent, now }: Circumstances,
): boolean {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as NewEntry;
    const inserted = driver.run(INSERT_ENTRY, [
      ref,
      run,
      position + index,
      entry.kind,
      entry.type,
      entry.name,
      entry.count,
      entry.attempt,
      entry.value,
      entry.dueAt,
      entry.event,
      entry.parent,
      now,
      entry.began ?? null,
    ]);
    if (inserted === 1 || resent) continue;
    if (index > 0) driver.run(DELETE_ENTRIES, [ref, run, position, position + index]);
    return false;
  }
  return true;
}

function writeOutcome(driver: SqliteDriver, { ref, outcome }: InstanceCommit, now: number): void {
  switch (outcome.kind) {
    case "running":
      return;
    case "parked":
      driver.run(PARK_INSTANCE, [outcome.wakes, outcome.dueAt, now, outcome.error ?? null, ref]);
      return;
    case "released":
      driver.run(RELEASE_INSTANCE, [outcome.dueAt ?? now, outcome.error ?? null, ref]);
      return;
    case "rollingBack":
      driver.run(BEGIN_ROLLBACK, [outcome.error, ref]);
      return;
    default:
      driver.run(FINISH_INSTANCE, [...resultOf(outcome), now, ref]);
  }
}

function resultOf(outcome: Extract<InstanceOutcome, { kind: "completed" | "errored" | "terminated" }>) {
  if (outcome.kind === "completed") return ["complete", outcome.output, null, null];
  return [outcome.kind, null, outcome.kind === "errored" ? outcome.error : null, outcome.rollback ?? null];
}
