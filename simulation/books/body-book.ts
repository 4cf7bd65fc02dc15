import type { NewEntry } from "../../src/store/instances/instance-records.ts";
import { decodeValue } from "../../src/values/index.ts";
import type { WorkflowStepContext } from "../../src/workflows/define/step.ts";
import { describe, MOST_RECOVERIES } from "../checks/check-errored.ts";
import { DEFAULT_LIMIT, INNER, LEDGER } from "../names.ts";
import type { World } from "../world.ts";
import {
  describeEnding,
  type InstanceAccount,
  isEnding,
  runOf,
  stepOf,
  type WrittenEntry,
} from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

export type BodyEnding = "running" | "succeeded" | "threw" | "refused" | "aborted";

/** One call of a step's function. */
export interface BodyRun {
  /** Instance, run and step. */
  readonly key: string;
  readonly ref: string;
  readonly process: string;
  readonly attempt: number;
  readonly limit: number;
  readonly aborted: () => boolean;
  /** Whether it writes something into the database. */
  effect: boolean;
  ending: BodyEnding;
}

/** What a workflow's code has seen in one execution when it begins a step's function. */
export interface Witness {
  /** The endings of steps, in the order in which the code got them. */
  readonly seen: readonly string[];
  /** Whether the code depends on nothing but the journal. */
  readonly orderly: boolean;
  /** Whether it calls one step after the other. */
  readonly solo: boolean;
}

/** The ledger of side effects: every call of a step's function, recorded outside the database. */
export class BodyBook {
  readonly runs: BodyRun[] = [];
  readonly #world: World;
  readonly #book: InstanceBook;
  readonly #byKey = new Map<string, BodyRun[]>();
  readonly #lastActivity = new Map<string, number>();
  /** By workflow and step. */
  readonly #limits = new Map<string, number>();

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  /** A workflow's code calls a step with a function. */
  called(workflow: string, step: string, limit: number): void {
    this.#limits.set(`${workflow}/${step}`, limit);
  }

  started(process: string, ctx: WorkflowStepContext, limit: number, witness: Witness): BodyRun {
    const key = ctx.idempotencyKey;
    const [ref, run] = key.split("/") as [string, string];
    const body: BodyRun = {
      key,
      ref,
      process,
      attempt: ctx.attempt,
      limit,
      aborted: () => ctx.signal.aborted,
      effect: false,
      ending: "running",
    };
    const earlier = this.#byKey.get(key) ?? [];
    this.#checkAttempts(body, earlier.length + 1, witness);
    const account = this.#book.accounts.get(ref);
    // An operator ended or restarted it. Its owner learns this from its next write.
    if (account?.state === "live" && account.run === Number(run)) this.#checkAllowed(account, body, witness);
    this.runs.push(body);
    this.#byKey.set(key, [...earlier, body]);
    this.#lastActivity.set(process, this.#world.now);
    return body;
  }

  ended(body: BodyRun, ending: BodyEnding): void {
    body.ending = ending;
    this.#lastActivity.set(body.process, this.#world.now);
  }

  /**
   * Calls of other processes for the same instance that were under way when this one began. A call of a later run belongs to
   * the owner: this one belongs to a run that was restarted, and its process doesn't know yet.
   */
  besides({ ref, process, key }: BodyRun): BodyRun[] {
    return this.runs.filter(
      (body) =>
        body.ref === ref && body.process !== process && body.ending === "running" && runIn(body.key) <= runIn(key),
    );
  }

  /** Since when nothing runs in this process; infinitely late if something does. */
  idleSince(process: string): number {
    const busy = this.runs.some((body) => body.process === process && body.ending === "running");
    return busy ? Number.POSITIVE_INFINITY : (this.#lastActivity.get(process) ?? 0);
  }

  /** Something was written about a step with a function. */
  entered({ name, losses }: InstanceAccount, key: string, entry: NewEntry, earlier: readonly WrittenEntry[]): void {
    const bodies = this.#byKey.get(key) ?? [];
    const { kind, attempt, dueAt, value } = entry;
    if (kind === "completed" && !bodies.some((body) => body.ending === "succeeded" && body.attempt === attempt)) {
      this.#violate("side effects happen at least once", `${key} was completed, but attempt ${attempt} didn't succeed`);
    }
    if (kind !== "failed" || value === null) return;
    const threw = bodies.some((one) => one.attempt === attempt && one.ending === "threw");
    if (!threw && describe(value).code === "step.interrupted") {
      const failed = Math.max(0, ...earlier.map((one) => one.attempt));
      const exact = earlier.some((one) => one.kind === "started");
      if (exact || failed + losses > (this.#limits.get(`${name}/${stepOf(entry)}`) ?? DEFAULT_LIMIT)) return;
      this.#violate("errored only for what earned it", `${key} is said to be interrupted ${failed + losses} times`);
      return;
    }
    const body = bodies.find((one) => one.attempt === attempt);
    if (body === undefined) this.#violate("errored only for what earned it", `${key}: attempt ${attempt} never began`);
    if (dueAt !== null && body?.ending === "refused") {
      this.#violate("what is refused isn't tried again", `${key} is to be tried again after attempt ${attempt}`);
    }
    if (dueAt !== null || body === undefined || attempt > body.limit) return;
    if (bodies.some(({ ending }) => ending === "refused")) return;
    this.#violate(
      "errored only for what earned it",
      `${key} has failed after ${attempt} of ${body.limit + 1} attempts`,
    );
  }

  /** The code has returned what it received, and in which order. */
  completed(account: InstanceAccount, output: string): void {
    const { seen, orderly } = decodeValue(output) as Witness;
    this.#checkSeen(account, `${account.ref}/${account.run}`, { seen, orderly, solo: false });
  }

  #checkAttempts({ key, attempt, limit, ref }: BodyRun, calls: number, { solo }: Witness): void {
    const account = this.#book.accounts.get(ref);
    // The releases of a run that was restarted aren't counted any more. Its owner learns of the restart from its next write.
    const countable = solo && account?.run === runIn(key);
    const most = limit === 0 ? 1 : countable ? limit + 1 + account.releases : Number.POSITIVE_INFINITY;
    if (attempt <= limit + 1 && calls <= most) return;
    this.#violate("attempts never exceed the limit", `${key}: attempt ${attempt}, call ${calls} of ${limit + 1}`);
  }

  #checkAllowed(account: InstanceAccount, { key, process, attempt }: BodyRun, witness: Witness): void {
    const { now } = this.#world;
    const { held, lock, availableAt, paused, toldOfPause, recoveries } = account;
    if (account.rollingBack !== null && account.disowned?.startsWith(`${process}#`)) return; // it can't know yet
    if (account.rollingBack !== null) this.#violate("nothing goes on while it is rolled back", `${key} begins`);
    const step = key.split("/").slice(2).join("/");
    const mine = runOf(account).journal.filter((entry) => stepOf(entry) === step);
    if (mine.some(isEnding) && !this.#book.ledger.cameLate(key)) {
      this.#violate("nothing committed runs again", `${key} has ended, and runs once more`);
    }
    if (!held || !lock?.startsWith(`${process}#`) || (availableAt ?? 0) <= now) {
      this.#violate(
        "at most one owner",
        `${process} begins ${key}, which belongs to ${lock ?? "no owner"} until ${availableAt}`,
      );
    }
    if (paused && (!held || toldOfPause)) this.#violate("nothing begins while it is paused", key);
    if (recoveries > MOST_RECOVERIES) this.#violate("what ends its processes is given up", `${key} begins once more`);
    const failed = mine.findLast(({ kind }) => kind === "failed");
    if ((failed?.dueAt ?? 0) > now) this.#violate("nothing runs before its time", `attempt ${attempt} of ${key}`);
    // The reasons of a transaction are committed with it, if not before.
    if (!step.startsWith(`do:${LEDGER}`)) this.#checkSeen(account, key, witness);
  }

  /**
   * Nothing begins before everything that led to it is committed, and stored endings come in the order in which they were
   * stored.
   */
  #checkSeen(account: InstanceAccount, label: string, { seen, orderly }: Witness): void {
    const run = runOf(account);
    const describeAll = (entries: readonly WrittenEntry[]) =>
      entries
        .filter((entry) => isEnding(entry) && !entry.name.startsWith(INNER))
        .map((entry) => describeEnding(entry, run));
    // The code may take another path than the run whose results were kept: a kept result comes when its step is called.
    const kept = describeAll(run.journal.slice(0, run.kept));
    const endings = describeAll(run.journal.slice(run.kept));
    for (const [index, ending] of seen.filter((one) => !kept.includes(one)).entries()) {
      if (!endings.includes(ending)) {
        this.#violate("nothing begins before its reasons are committed", `${label} begins after ${ending}`);
      } else if (orderly && endings[index] !== ending) {
        this.#violate(
          "what is stored comes in its order",
          `${label} got ${seen.join(", ")}; stored: ${endings.join(", ")}`,
        );
      } else continue;
      return;
    }
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

/** Of the key of a step. */
function runIn(key: string): number {
  return Number(key.split("/")[1]);
}
