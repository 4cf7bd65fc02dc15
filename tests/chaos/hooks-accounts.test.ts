import { describe, expect, test } from "vitest";
import type { Entry } from "../../chaos/ledger.ts";
import { accountForHooks, type Collected } from "../../chaos/workloads/hooks/accounts.ts";
import type { KindName, Way } from "../../chaos/workloads/hooks/kinds.ts";

const KEY = "hook-1/1";

/** The ledgers and the database of a run, as a test wants them to be. */
class Evidence {
  readonly #entries: Entry[] = [];
  readonly #collected = { rows: [] as string[], effects: [] as string[], deadLetters: [] as DeadLetter[] };
  #at = 0;

  asked(item: string, kind: KindName, details: { way?: Way; key?: string; processAt?: number } = {}): this {
    return this.#write("asked", item, { kind, way: "trigger", sequence: Number(item), ...details });
  }

  /** A producer was told. */
  told(item: string, answer: "accepted" | "rolled back" | "refused" | "unknown", code?: string): this {
    return this.#write(answer, item, { code, message: "no" });
  }

  accepted(item: string, kind: KindName, details: { way?: Way; key?: string; processAt?: number } = {}): this {
    return this.asked(item, kind, details).told(item, "accepted");
  }

  began(item: string, attempt = 1, { key = KEY, time = 0 } = {}): this {
    return this.#write("began", item, { attempt, key, time });
  }

  ran(item: string, attempt = 1): this {
    return this.began(item, attempt).#write("ran", item, { attempt });
  }

  row(item: string): this {
    this.#collected.rows.push(item);
    return this;
  }

  effect(item: string): this {
    this.#collected.effects.push(item);
    return this;
  }

  deadLetter(item: string, attempts = 1): this {
    this.#collected.deadLetters.push({ item, attempts, error: "no" });
    return this;
  }

  get account() {
    return accountForHooks(this.#entries, this.#collected);
  }

  /** What is wrong, by the promises that were broken. */
  get broken(): string[] {
    return this.account.problems.map(({ promise }) => promise);
  }

  #write(did: string, item: string, details: object): this {
    this.#entries.push({ at: ++this.#at, process: "p1", workload: "hooks", did, item, ...details });
    return this;
  }
}

type DeadLetter = Collected["deadLetters"][number];

describe("the accounts of hooks accept", () => {
  test("work that was accepted and came to its end, in every way", () => {
    const evidence = new Evidence()
      .accepted("1", "plain")
      .ran("1")
      .accepted("2", "with a row", { way: "unit of work" })
      .ran("2")
      .row("2")
      .effect("2")
      .accepted("3", "refused")
      .began("3")
      .deadLetter("3")
      .asked("4", "rolled back", { way: "rolled back" })
      .told("4", "rolled back")
      .asked("5", "effect")
      .accepted("6", "keyed", { key: "k" })
      .accepted("7", "keyed", { key: "k" })
      .ran("7");

    expect(evidence.broken).toEqual([]);
    const { table } = evidence.account;
    expect(table["with a row"]).toMatchObject({ accepted: 1, finished: 1, effects: 1, lost: 0 });
    expect(table["refused"]).toMatchObject({ accepted: 1, finished: 0, "dead letters": 1 });
    expect(table["rolled back"]).toMatchObject({ accepted: 0, "not taken": 1 });
    expect(table["effect"]).toMatchObject({ unknown: 1, "unknown but done": 0 });
    expect(table["keyed"]).toMatchObject({ accepted: 2, finished: 1, collapsed: 1 });
  });

  test("side effects that happen again, and counts them", () => {
    const { table, problems } = new Evidence().accepted("1", "plain").ran("1").ran("1", 2).account;
    expect(problems).toEqual([]);
    expect(table["plain"]).toMatchObject({ finished: 1, "ran again": 1 });
  });

  test("unknown answers to what has happened, or has not", () => {
    const { table, problems } = new Evidence().asked("1", "plain").ran("1").asked("2", "plain").account;
    expect(problems).toEqual([]);
    expect(table["plain"]).toMatchObject({ unknown: 2, "unknown but done": 1 });
  });

  test("a late failure of an attempt that no other worker has taken over", () => {
    expect(new Evidence().accepted("1", "late").began("1").deadLetter("1", 1).broken).toEqual([]);
  });
});

describe("the accounts of hooks notice", () => {
  const LOST = "nothing accepted is lost";
  const ONCE = "effects in the database happen exactly once";
  const ROLLED_BACK = "what is rolled back never happened";
  const OTHER_KEY = { key: "hook-2/1" };

  const cases: Record<string, [evidence: Evidence, promise: string]> = {
    "accepted work that never ran": [new Evidence().accepted("1", "plain"), LOST],
    "accepted work that began and never ended": [new Evidence().accepted("1", "plain").began("1"), LOST],
    "work of an unknown answer that began and never ended": [new Evidence().asked("1", "plain").began("1"), LOST],
    "a failure that is no dead letter": [new Evidence().accepted("1", "refused").began("1"), LOST],
    "a row that was accepted and isn't there": [
      new Evidence().accepted("1", "with a row").effect("1").deadLetter("1"),
      LOST,
    ],
    "the last trigger of a key that never ran": [
      new Evidence().accepted("1", "keyed", { key: "k" }).ran("1").accepted("2", "keyed", { key: "k" }),
      LOST,
    ],
    "an older trigger of a key that ran instead of the last": [
      new Evidence().accepted("1", "keyed", { key: "k" }).accepted("2", "keyed", { key: "k" }).ran("1"),
      LOST,
    ],
    "a shared key that didn't run any more after its last trigger": [
      new Evidence().accepted("1", "shared key", { key: "k" }).ran("1").accepted("2", "shared key", { key: "k" }),
      LOST,
    ],
    "a doubled effect": [new Evidence().accepted("1", "effect").ran("1").effect("1").effect("1"), ONCE],
    "a doubled effect of an unknown answer": [
      new Evidence().asked("1", "effect").ran("1").effect("1").effect("1"),
      ONCE,
    ],
    "a missing effect": [new Evidence().accepted("1", "effect").ran("1"), ONCE],
    "a doubled row": [new Evidence().accepted("1", "with a row").ran("1").effect("1").row("1").row("1"), ONCE],
    "a trigger without its row": [
      new Evidence().asked("1", "with a row").ran("1").effect("1"),
      "a row and its trigger are one",
    ],
    "a dead letter of work that can't fail": [
      new Evidence().accepted("1", "plain").ran("1").deadLetter("1"),
      "dead letters are earned",
    ],
    "a late failure that was taken over": [
      new Evidence().accepted("1", "late").ran("1", 2).deadLetter("1", 2),
      "dead letters are earned",
    ],
    "a trigger that became two dead letters": [
      new Evidence().accepted("1", "refused").deadLetter("1").deadLetter("1"),
      "a trigger is one hook",
    ],
    "work that ran although it was rolled back": [
      new Evidence()
        .asked("1", "rolled back", { way: "rolled back" })
        .told("1", "rolled back")
        .ran("1")
        .row("1")
        .effect("1"),
      ROLLED_BACK,
    ],
    "a row that is there although its transaction was refused": [
      new Evidence().asked("1", "with a row").told("1", "refused", "store.unavailable").row("1"),
      ROLLED_BACK,
    ],
    "an error that faults don't explain": [
      new Evidence().asked("1", "with a row", { way: "unit of work" }).told("1", "refused", "store.rejected"),
      "faults give no strange errors",
    ],
    "work without a request": [new Evidence().ran("1"), "nothing appears by itself"],
    "more attempts than there are": [
      new Evidence().accepted("1", "exhausted").began("1", 4).deadLetter("1"),
      "attempts end",
    ],
    "an idempotency key that changes": [
      new Evidence().accepted("1", "plain").began("1", 1, OTHER_KEY).ran("1", 2),
      "idempotency keys stay",
    ],
    "a run before its time": [
      new Evidence().accepted("1", "later", { processAt: 1000 }).began("1", 1, { time: 900 }).ran("1", 2),
      "nothing runs before its time",
    ],
  };

  test.each(Object.entries(cases))("%s", (_name, [evidence, promise]) => {
    expect(evidence.broken).toContain(promise);
  });
});
