import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { freshRank } from "../../src/store/queue/rank.ts";
import { WorkClass } from "../../src/store/queue/work-class.ts";
import type { SqliteValue } from "../../src/store/sqlite/drivers/driver.ts";
import { type InstanceAccount, purgeAt, type RunAccount, statusOf } from "../books/instance-account.ts";
import type { InstanceBook } from "../books/instance-book.ts";
import { standsInLine } from "../books/line-book.ts";
import { ALL_PROGRAM_NAMES, NAMESPACE } from "../names.ts";
import type { World } from "../world.ts";
import { checkDependents } from "./check-dependents.ts";

type Row = Record<string, unknown>;
type Read = (text: string, parameters?: SqliteValue[]) => Row[];

const INSTANCES = `select ref, run, class, lock, available_at, wakes, paused, outcome, purge_at, started_at is not null as started
from perdure_instance`;
/** Except for an instance that was purged and still has to be swept up. */
const KEPT = "ref not in (select ref from perdure_deleted_instance)";
const COUNTS = `select (select count(*) from perdure_journal where ${KEPT}) as entries,
  (select coalesce(sum(sequence), 0) from perdure_event where ${KEPT}) as sequences`;
const JOURNALS = `select ref, run, count(*) as entries, max(position) as last from perdure_journal where ${KEPT} group by ref, run`;
const ENTRIES = `select kind, name, count, attempt, event, due_at, at, value from perdure_journal
where ref = ? and run = ? order by position`;
const EVENTS = `select ref, run, count(*) as entries, max(sequence) as last from perdure_event where ${KEPT} group by ref, run`;

const LINES = "select kind || ' ' || key as key, available_at from perdure_line";
/** The rank of instances without a priority in a line, before the time at which they joined it. */
const FIRST_PLACE_MS = -freshRank({ priority: 0, limited: true }, 0).availableAt;

/** The status that each status can become by one call of the database; `gone` means deleted. */
const TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  queued: ["running", "paused", "rollingBack", "terminated", "gone"],
  running: ["waiting", "waitingForPause", "rollingBack", "complete", "errored", "terminated", "queued", "gone"],
  waiting: ["running", "paused", "rollingBack", "terminated", "queued", "gone"],
  waitingForPause: ["running", "paused", "rollingBack", "complete", "errored", "terminated", "queued", "gone"],
  paused: ["waiting", "queued", "rollingBack", "terminated", "gone"],
  rollingBack: ["waitingForPause", "paused", "errored", "terminated", "queued", "gone"],
  complete: ["queued", "gone"],
  errored: ["queued", "gone"],
  terminated: ["queued", "gone"],
};

/** Rows and accounts must be the same instances in the same states. */
export class InstanceCheck {
  readonly #world: World;
  readonly #book: InstanceBook;
  readonly #read: Read;
  readonly #statuses = new Map<string, string>();

  constructor(world: World, book: InstanceBook, read: Read) {
    this.#world = world;
    this.#book = book;
    this.#read = read;
  }

  async check(instances: InstanceStatements): Promise<void> {
    this.#book.schedules.compare(this.#read);
    if (this.#book.accounts.size === 0) return;
    const rows = new Map(this.#read(INSTANCES).map((row) => [row.ref as string, row]));
    for (const account of this.#book.accounts.values()) {
      const row = rows.get(account.ref);
      rows.delete(account.ref);
      this.#compare(account, row);
      this.#checkStatus(account);
    }
    for (const ref of rows.keys()) this.#world.violate("nothing appears by itself", `the instance ${ref}`);
    if (!this.#countsAgree()) {
      this.#compareRuns(JOURNALS, "journal", ({ journal }) => [journal.length, journal.length]);
      this.#compareRuns(EVENTS, "events", ({ events }) => [events.length, events.at(-1)?.sequence ?? 0]);
    }
    for (const ref of this.#book.touched) this.#compareJournal(this.#book.accounts.get(ref) as InstanceAccount);
    this.#book.touched.clear();
    this.#book.streams.compare(this.#read);
    checkDependents(this.#world, this.#book.accounts.values(), this.#read);
    await this.#checkNextWake(instances);
    this.#checkLines();
  }

  /** A line is due when one of its instances is, unless all of them must wait for others. */
  #checkLines(): void {
    const lines = new Map(this.#read(LINES).map((row) => [row.key as string, row.available_at as number | null]));
    for (const account of this.#book.accounts.values()) {
      const { ref, slotKey, rateKey, availableAt } = account;
      if (availableAt === null || !standsInLine(account) || this.#book.lines.isHeldUp(account)) continue;
      const lookedAt = lines.get(slotKey === null ? `1 ${rateKey}` : `0 ${slotKey}`) ?? Number.POSITIVE_INFINITY;
      if (lookedAt <= Math.max(availableAt, this.#world.now)) continue;
      this.#world.violate("a next look for every line", `${ref} is due at ${availableAt}, and looked at ${lookedAt}`);
    }
  }

  #compare(account: InstanceAccount, row: Row | undefined): void {
    const { ref, state, run, held, lock, availableAt, wakes, paused, started } = account;
    const stored = row === undefined ? "gone" : (row.outcome ?? "live");
    const purge = purgeAt(account);
    if (stored === "gone" && purge !== null && purge <= this.#world.now) {
      account.state = "gone";
      return;
    }
    if (stored !== state)
      this.#world.violate("nothing accepted is lost", `${ref} should be ${state}, but it is ${stored}`);
    if (row === undefined) return;
    if (row.purge_at !== purge) {
      this.#world.violate("kept for as long as was said", `${ref} until ${purge}, but has ${row.purge_at}`);
    }
    const isHeld = row.class === 2 && row.lock !== null;
    if (row.lock !== lock || isHeld !== held || row.run !== run) {
      const found = `${row.lock} ${isHeld ? "has" : "had"} run ${row.run}`;
      this.#world.violate(
        "at most one owner",
        `run ${run} of ${ref} belongs to ${held ? "" : "no owner after "}${lock}; ${found}`,
      );
    }
    const place = row.class === WorkClass.lineFresh && row.available_at !== null ? FIRST_PLACE_MS : 0;
    if (row.available_at !== (availableAt === null ? null : availableAt - place)) {
      this.#world.violate("everything has its time", `${ref} is due at ${availableAt}, but has ${row.available_at}`);
    }
    if (state === "live" && row.wakes !== wakes)
      this.#world.violate("every wake counts", `${ref}: ${row.wakes} of ${wakes}`);
    if (Boolean(row.paused) !== paused && state === "live") this.#world.violate("pauses are kept", ref);
    if (state === "live" && Boolean(row.started) !== started) this.#world.violate("nothing runs unclaimed", ref);
  }

  #checkStatus(account: InstanceAccount): void {
    const { ref } = account;
    const status = statusOf(account);
    const before = this.#statuses.get(ref) ?? status;
    this.#statuses.set(ref, status);
    if (status === before || (TRANSITIONS[before] ?? ["queued", "running"]).includes(status)) return;
    this.#world.violate("statuses change as they may", `${ref} was ${before}, and is ${status}`);
  }

  /** Mostly they do; only then it is worth looking where they don't. */
  #countsAgree(): boolean {
    const [stored] = this.#read(COUNTS);
    let entries = 0;
    let sequences = 0;
    for (const { state, runs } of this.#book.accounts.values()) {
      if (state === "gone") continue;
      for (const { journal, events } of runs.values()) {
        entries += journal.length;
        for (const { sequence } of events) sequences += sequence;
      }
    }
    return stored?.entries === entries && stored.sequences === sequences;
  }

  #compareRuns(
    text: string,
    what: string,
    measure: (run: RunAccount) => readonly [entries: number, last: number],
  ): void {
    const rows = new Map(this.#read(text).map((row) => [`${row.ref}/${row.run}`, row]));
    for (const { ref, state, runs } of this.#book.accounts.values()) {
      if (state === "gone") continue;
      for (const [run, account] of runs) {
        const row = rows.get(`${ref}/${run}`);
        rows.delete(`${ref}/${run}`);
        const [entries, last] = measure(account);
        if ((row?.entries ?? 0) === entries && (row?.last ?? 0) === last) continue;
        const found = `${row?.entries ?? 0}, the last ${row?.last}`;
        this.#world.violate(
          "nothing accepted is lost",
          `${what} of ${ref}/${run}: ${entries}, the last ${last}; stored ${found}`,
        );
      }
    }
    for (const run of rows.keys()) this.#world.violate("nothing appears by itself", `${what} of ${run}`);
  }

  #compareJournal({ ref, state, run, runs }: InstanceAccount): void {
    if (state === "gone") return;
    const rows = this.#read(ENTRIES, [ref, run]);
    for (const [index, { kind, name, count, attempt, event, dueAt, at, value, dropped }] of (
      runs.get(run) as RunAccount
    ).journal.entries()) {
      const expected = JSON.stringify({
        kind,
        name,
        count,
        attempt,
        event,
        due_at: dueAt,
        at,
        value: dropped ? null : value,
      });
      if (JSON.stringify(rows[index]) === expected) continue;
      const found = JSON.stringify(rows[index]);
      this.#world.violate("each position is written once", `${ref}/${run} at ${index + 1}: ${expected}, now ${found}`);
    }
  }

  async #checkNextWake(instances: InstanceStatements): Promise<void> {
    let first = Number.POSITIVE_INFINITY;
    for (const account of this.#book.accounts.values()) {
      const { state, availableAt } = account;
      if (state === "live" && availableAt !== null && !standsInLine(account)) first = Math.min(first, availableAt);
    }
    const expected = first === Number.POSITIVE_INFINITY ? null : first - this.#world.now;
    const scopes = [{ namespace: NAMESPACE, names: ALL_PROGRAM_NAMES }];
    const told = await instances.nextWake(scopes, { takeOver: true });
    if (told === expected) return;
    this.#world.violate("a next wake for everything that waits", `in ${expected} ms, but the database says ${told}`);
  }
}
