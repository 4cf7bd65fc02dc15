import { decodeValue, describeError } from "../../src/values/index.ts";
import { type InstanceAccount, runOf } from "../books/instance-account.ts";
import type { World } from "../world.ts";

/** How many owners may be lost in a row without progress. */
export const MOST_RECOVERIES = 20;

/**
 * An instance fails by its own errors, or because it crashes its processes; never because of the database or of other
 * instances.
 */
export function checkErrored(world: World, account: InstanceAccount, error: string): void {
  const { name, message, code } = describe(error);
  const { journal } = runOf(account);
  const failures = journal.filter(({ kind, dueAt }) => kind === "failed" && dueAt === null);
  const earned =
    failures.some(({ value }) => value !== null && describe(value).message === message) ||
    (code === "workflow.crash_loop" && account.recoveries > MOST_RECOVERIES) ||
    (name === "AggregateError" && failures.length > 1) ||
    (name === "EventTimeoutError" && journal.some(({ kind }) => kind === "timedOut"));
  if (!earned) world.violate("errored only for what earned it", `${account.ref}: ${name} ${code}: ${message}`);
}

export function describe(error: string): { name: string; message: string; code: string } {
  const value = decodeValue(error);
  const { name, message } = describeError(value);
  return { name, message, code: String(Reflect.get(Object(value), "code") ?? "") };
}
