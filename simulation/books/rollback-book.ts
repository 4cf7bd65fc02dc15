import { WorkflowTerminatedError } from "../../src/errors.ts";
import type { EntryKind, InstanceOutcome, NewEntry } from "../../src/store/instances/instance-records.ts";
import type { WorkflowRollbackContext, WorkflowStepContext } from "../../src/workflows/define/step.ts";
import { checkErrored, describe, MOST_RECOVERIES } from "../checks/check-errored.ts";
import type { World } from "../world.ts";
import { type InstanceAccount, runOf, stepOf, type WrittenEntry } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

type Ended = Extract<InstanceOutcome, { kind: "errored" | "terminated" }>;

export const ROLLBACK_KINDS: readonly EntryKind[] = [
  "undoable",
  "rollingBack",
  "rollbackStarted",
  "rolledBack",
  "rollbackFailed",
];

/** The ledger of rollbacks: every step that has begun is rolled back, the last first, each once, and none is left out. */
export class RollbackBook {
  /** How many runs have been rolled back to the end. */
  rolledBack = 0;
  readonly #world: World;
  readonly #book: InstanceBook;
  /** By the key of the rollback: attempts whose function has succeeded. */
  readonly #succeeded = new Map<string, Set<number>>();
  /** By the key of the rollback: how often its function was called, may be tried again, and whether it gave up. */
  readonly #calls = new Map<string, { count: number; readonly limit: number; refused: boolean }>();

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  /** The function of a rollback is called. */
  began(process: string, context: WorkflowRollbackContext, limit: number): void {
    const { ctx } = context;
    const key = ctx.idempotencyKey;
    const [ref, run, ...rest] = key.split("/") as [string, string, ...string[]];
    const step = rest.join("/").slice("rollback:".length);
    const calls = this.#calls.get(key) ?? { count: 0, limit, refused: false };
    this.#calls.set(key, calls);
    if (++calls.count > 1 && limit === 0) this.#violate("attempts never exceed the limit", `${key} begins once more`);
    if (ctx.attempt > limit + 1) this.#violate("attempts never exceed the limit", `${key}: attempt ${ctx.attempt}`);
    const account = this.#book.accounts.get(ref);
    if (account?.state !== "live" || account.run !== Number(run)) return; // its owner learns this with its next write
    const { held, lock, availableAt, paused, toldOfPause, recoveries } = account;
    if (!held || !lock?.startsWith(`${process}#`) || (availableAt ?? 0) <= this.#world.now) {
      this.#violate("at most one owner", `${process} rolls back ${key}, which belongs to ${lock ?? "no owner"}`);
    }
    if (paused && toldOfPause) this.#violate("nothing begins while it is paused", key);
    if (recoveries > MOST_RECOVERIES) this.#violate("what ends its processes is given up", `${key} begins once more`);
    const { journal } = runOf(account);
    if (!journal.some(({ kind }) => kind === "rollingBack")) {
      this.#violate("a rollback is stored before it begins", key);
    }
    const due = journal.findLast((entry) => entry.kind === "rollbackFailed" && stepOf(entry) === step)?.dueAt ?? 0;
    if (due > this.#world.now) this.#violate("nothing runs before its time", `attempt ${ctx.attempt} of ${key}`);
    this.#checkTurn(journal, step, key);
    this.#checkTold(account, step, context);
  }

  /** It gives up: another attempt would fail, too. */
  refused({ idempotencyKey }: WorkflowStepContext): void {
    const calls = this.#calls.get(idempotencyKey);
    if (calls !== undefined) calls.refused = true;
  }

  succeeded({ idempotencyKey, attempt }: WorkflowStepContext): void {
    this.#succeeded.set(idempotencyKey, new Set([...(this.#succeeded.get(idempotencyKey) ?? []), attempt]));
  }

  /** Something was written about a rollback. */
  entered(account: InstanceAccount, entry: NewEntry): void {
    const { ref, run } = account;
    const { journal } = runOf(account);
    const step = stepOf(entry);
    const key = `${ref}/${run}/rollback:${step}`;
    const begun = journal.some(({ kind }) => kind === "rollingBack");
    if (entry.kind === "undoable") {
      if (begun) this.#violate("nothing goes on while it is rolled back", `${key} begins`);
      if (journal.some((one) => one.kind === "undoable" && stepOf(one) === step)) {
        this.#violate("a step begins once", key);
      }
      return;
    }
    if (entry.kind === "rollingBack") {
      if (begun) this.#violate("a run is rolled back once", `${ref}/${run}`);
      return;
    }
    if (!begun) this.#violate("a rollback is stored before it begins", key);
    this.#checkTurn(journal, step, key);
    if (entry.kind === "rolledBack" && !this.#succeeded.get(key)?.has(entry.attempt)) {
      this.#violate("side effects happen at least once", `${key} is said to be rolled back`);
    }
    if (entry.kind === "rollbackFailed" && entry.dueAt === null) this.#checkFailed(entry, key);
  }

  /** An instance has ended without a result. */
  ended(account: InstanceAccount, outcome: Ended): void {
    const { ref, run, rollingBack } = account;
    const { journal } = runOf(account);
    const open = undoable(journal).filter((step) => !isRolledBack(journal, step));
    const error = outcome.kind === "errored" ? outcome.error : null;
    if (rollingBack === null) {
      if (error === null) this.#violate("statuses change as they may", `${ref}/${run} is terminated by its owner`);
      else checkErrored(this.#world, account, error);
      if (open.length > 0) this.#violate("what has begun is rolled back", `${ref}/${run}: ${open.join(", ")}`);
      return;
    }
    this.rolledBack++;
    if (outcome.kind !== rollingBack || (error !== null && error !== account.error)) {
      this.#violate("a rollback changes no outcome", `${ref}/${run} was to be ${rollingBack}, and is ${outcome.kind}`);
    }
    const report = JSON.parse(outcome.rollback ?? '{"outcome":"complete"}') as { outcome: string; error?: unknown };
    const failed = journal.some(({ kind, dueAt }) => kind === "rollbackFailed" && dueAt === null);
    if (report.outcome === "complete" && open.length === 0) return;
    const { code } = report.error === undefined ? { code: "" } : describe(JSON.stringify(report.error));
    const earned = failed || (code === "workflow.crash_loop" && account.recoveries > MOST_RECOVERIES);
    if (report.outcome === "failed" && earned) return;
    this.#violate("what has begun is rolled back", `${ref}/${run} ${report.outcome} ${code}: ${open.join(", ")}`);
  }

  /** It receives the reason of the rollback, and the step's output. */
  #checkTold(account: InstanceAccount, step: string, { ctx, error, output }: WorkflowRollbackContext): void {
    const reason = account.error === null ? null : describe(account.error).message;
    const told =
      account.rollingBack === "terminated" ? error instanceof WorkflowTerminatedError : error.message === reason;
    if (!told) this.#violate("rollbacks are told why", `${ctx.idempotencyKey}: ${String(error)}`);
    const completed = runOf(account).journal.some((entry) => entry.kind === "completed" && stepOf(entry) === step);
    const { name, count } = ctx.step;
    const expected = completed ? JSON.stringify({ name, count }) : undefined;
    if (JSON.stringify(output) === expected) return;
    this.#violate("rollbacks are told what the step gave", `${ctx.idempotencyKey}: ${JSON.stringify(output)}`);
  }

  /** A rollback fails for good when it gave up, or when its attempts, lost ones among them, are used up. */
  #checkFailed({ attempt }: NewEntry, key: string): void {
    const { limit = 0, refused = false } = this.#calls.get(key) ?? {};
    if (refused || attempt > limit) return;
    this.#violate("errored only for what earned it", `${key} has failed after ${attempt} of ${limit + 1} attempts`);
  }

  /** Whether it is this step's turn: all steps that began after it are rolled back, and it isn't. */
  #checkTurn(journal: readonly WrittenEntry[], step: string, key: string): void {
    const steps = undoable(journal);
    const place = steps.indexOf(step);
    if (place < 0) this.#violate("nothing is rolled back that hasn't begun", key);
    if (isRolledBack(journal, step)) this.#violate("a step is rolled back once", key);
    const later = steps.slice(place + 1).find((one) => !isRolledBack(journal, one));
    if (later !== undefined) this.#violate("the last to begin is rolled back first", `${key} before ${later}`);
    if (journal.some(({ kind, dueAt }) => kind === "rollbackFailed" && dueAt === null)) {
      this.#violate("a rollback that fails ends it", key);
    }
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

/** Steps that have a rollback, in the order of their beginnings. */
function undoable(journal: readonly WrittenEntry[]): string[] {
  return journal.filter(({ kind }) => kind === "undoable").map(stepOf);
}

function isRolledBack(journal: readonly WrittenEntry[], step: string): boolean {
  return journal.some((entry) => entry.kind === "rolledBack" && stepOf(entry) === step);
}
