import {
  type InstanceCommit,
  type InstanceCommitResult,
  type InstanceOutcome,
  toEndNotice,
} from "../../instances/instance-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SqliteDriver } from "../drivers/driver.ts";
import { hookValues, INSERT_HOOK } from "../sql/hooks-trigger.ts";
import { BEGIN_ROLLBACK, FIND_RUN, FINISH_INSTANCE, PARK_INSTANCE, RELEASE_INSTANCE } from "../sql/instances-commit.ts";
import { DELETE_ENTRIES, INSERT_ENTRY } from "../sql/journal.ts";
import { freeSlot } from "./lines.ts";
import { tellWaiters } from "./waiters.ts";

const SUPERSEDED: InstanceCommitResult = { result: "superseded" };

/**
 * Inside a transaction, so no other write comes between reading and writing. Parking and finishing leave the token where it was:
 * that is how a commit that is sent again knows that it was applied.
 */
export function commitInstance(
  driver: SqliteDriver,
  commit: InstanceCommit,
  { resent, now }: { resent: boolean; now: number },
): InstanceCommitResult {
  const [found] = driver.all(FIND_RUN, [commit.ref, commit.run]);
  if (found === undefined || found.lock !== commit.lock) return SUPERSEDED;
  const written = { result: "written", at: now, wakes: Number(found.wakes), paused: Boolean(found.paused) } as const;
  if (Number(found.class) !== WorkClass.leased) return resent ? written : SUPERSEDED;
  if (!insertEntries(driver, commit, { resent, now })) return SUPERSEDED;
  writeOutcome(driver, commit, now);
  const { kind } = commit.outcome;
  const letsGo = kind !== "running" && kind !== "rollingBack";
  if (found.slot_key !== null && letsGo) freeSlot(driver, found.slot_key as string, now);
  if (commit.hook !== undefined) driver.run(INSERT_HOOK, hookValues(commit.hook, now));
  if (found.waiters === null) return written;
  const end = toEndNotice(commit.instance, commit, commit.outcome);
  return end === null ? written : { ...written, woken: tellWaiters(driver, found.waiters as string, end, now) };
}

/** All or none. Only the owner adds to a journal, so what a commit finds there when it is sent again is its own. */
function insertEntries(
  driver: SqliteDriver,
  { ref, run, position, entries }: InstanceCommit,
  { resent, now }: { resent: boolean; now: number },
): boolean {
  for (const [index, entry] of entries.entries()) {
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
