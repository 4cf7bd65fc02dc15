import { describe, expect, test } from "vitest";
import type { Entry } from "../../chaos/ledger.ts";
import { accountForWorkflows } from "../../chaos/workloads/workflows/accounts.ts";
import type { KindName, Operation } from "../../chaos/workloads/workflows/kinds.ts";
import type { CollectedInstance } from "../../chaos/workloads/workflows/stories.ts";
import type { HistoryItem } from "../../src/index.ts";

type Details = Readonly<Record<string, unknown>>;
/** Longer than a commit may take to be seen. */
const LONG_MS = 5000;

/** The ledgers and the database of a run, as a test wants them to be. The item is always "a". */
class Evidence {
  readonly #entries: Entry[] = [];
  readonly #instances: CollectedInstance[] = [];
  readonly #effects: { key: string; item: string }[] = [];
  readonly #journal: HistoryItem[] = [];
  #time = 0;

  write(did: string, details: Details = {}): this {
    this.#entries.push({ at: ++this.#time, process: "p1", workload: "workflows", did, item: "a", ...details });
    return this;
  }

  accepted(kind: KindName = "sequence"): this {
    return this.write("asked", { kind }).write("accepted");
  }

  operated(operation: Operation, answer: string): this {
    return this.write("operates", { operation }).write("operated", { operation, answer });
  }

  /** A body that began at this time, and gave this token. */
  body(step: string, token: string, time: number, run = 1): this {
    return this.write("began", { step, token, time, attempt: 1, key: `ref/${run}/do:${step}` }).write("ran", { token });
  }

  entry(name: string, details: Partial<HistoryItem> = {}): this {
    const { run = 1 } = details;
    const position = this.#journal.filter((one) => one.run === run).length + 1;
    const what = { run, position, at: new Date(0), kind: "completed", type: "do", name, count: 1 } as const;
    this.#journal.push({ ...what, ...details });
    return this;
  }

  /** A step that ran and was committed. */
  done(step: string, time: number, run = 1): this {
    return this.body(step, `${step} ${run}`, time, run).entry(step, {
      run,
      at: new Date(time + 5),
      output: `${step} ${run}`,
    });
  }

  received(payload: number, details: Partial<HistoryItem> = {}): this {
    const event = { type: "go", payload };
    return this.entry("event", { kind: "received", type: "waitForEvent", count: payload, event, ...details });
  }

  effect(key = "ref/1/do:effect"): this {
    this.#effects.push({ key, item: "a" });
    return this;
  }

  instance(status: string, details: Partial<CollectedInstance> = {}): this {
    const nothing = { isChild: false, run: 1, error: null, startedAt: 0, finishedAt: 1_000_000 };
    const seen = Object.fromEntries(this.#journal.map(({ name, output }) => [name, String(output)]));
    const output = { seen, events: [], children: [] };
    const outputs = status === "complete" ? { output } : {};
    this.#instances.push({ id: "a", status, ...nothing, ...outputs, entries: this.#journal, ...details });
    return this;
  }

  get account() {
    return accountForWorkflows(this.#entries, { instances: this.#instances, effects: this.#effects });
  }

  /** What is wrong, by the promises that were broken. */
  get broken(): string[] {
    return this.account.problems.map(({ promise }) => promise);
  }
}

const complete = () => new Evidence().accepted().done("first", 10).done("last", 20);
const listening = (...events: number[]) => {
  const evidence = new Evidence().accepted("events");
  for (const event of events) evidence.received(event);
  return evidence.instance("complete", { output: { seen: {}, events, children: [] } });
};

describe("the accounts of workflows accept", () => {
  const cases: Record<string, Evidence> = {
    "an instance that is complete": complete().instance("complete"),
    "a step that was interrupted before its commit, and ran again": new Evidence()
      .accepted()
      .body("first", "lost", 10)
      .done("first", 2000)
      .instance("complete"),
    "events that arrive once, in order": listening(1, 2, 3),
    "an error that was earned": new Evidence().accepted("refused").instance("errored", { error: "refused for good" }),
    "a termination that came in time": new Evidence()
      .accepted("terminated")
      .operated("terminate", "done")
      .instance("terminated"),
    "a termination that came too late": new Evidence()
      .accepted("terminated")
      .operated("terminate", "too late")
      .instance("complete"),
    "a second run": new Evidence()
      .accepted("restarted")
      .done("first", 10)
      .operated("restart", "done")
      .done("first", 30, 2)
      .instance("complete", {
        run: 2,
        startedAt: 25,
        output: { seen: { first: "first 2" }, events: [], children: [] },
      }),
    "an unknown answer to what isn't there": new Evidence().write("asked", { kind: "sequence" }),
    "a child": complete()
      .instance("complete", { output: { seen: { first: "first 1", last: "last 1" }, events: [], children: ["b"] } })
      .instance("complete", { id: "b", isChild: true, entries: [], output: { seen: {}, events: [], children: [] } }),
  };

  test.each(Object.entries(cases))("%s", (_name, evidence) => {
    expect(evidence.account.problems).toEqual([]);
  });

  test("and counts it", () => {
    const evidence = complete().body("first", "lost", 5).received(1).effect().instance("complete");
    expect(evidence.account.table["sequence"]).toMatchObject({
      accepted: 1,
      complete: 1,
      steps: 2,
      "bodies again": 1,
      events: 1,
      effects: 1,
      lost: 0,
    });
  });
});

describe("the accounts of workflows notice", () => {
  const LOST = "nothing accepted is lost";
  const EARNED = "errors are earned";
  const EVENTS = "events arrive once, in order";
  const REFUSED = "a former owner of an instance is refused";
  const SEEN = "what the code saw is what is stored";
  const first = { seen: { first: "other" }, events: [], children: [] };

  const cases: Record<string, [evidence: Evidence, promise: string]> = {
    "an accepted instance that isn't there": [new Evidence().accepted(), LOST],
    "an instance that began, and isn't there": [
      new Evidence().write("asked", { kind: "sequence" }).body("first", "x", 10),
      LOST,
    ],
    "an instance that is left waiting": [complete().instance("waiting"), LOST],
    "an instance that is left paused": [complete().instance("paused"), LOST],
    "a restart that didn't happen": [complete().operated("restart", "done").instance("complete"), LOST],
    "a restart that happened twice": [
      new Evidence().accepted("restarted").operated("restart", "done").instance("complete", { run: 3 }),
      "a restart is one",
    ],
    "an error that faults made": [complete().instance("errored", { error: "Connection terminated" }), EARNED],
    "another error than the one that was earned": [
      new Evidence().accepted("refused").instance("errored", { error: "Connection terminated" }),
      EARNED,
    ],
    "a failure that is complete": [
      new Evidence().accepted("refused").instance("complete"),
      "what ends, ends as it must",
    ],
    "a termination that was undone": [
      new Evidence().accepted("terminated").operated("terminate", "done").instance("complete"),
      "what ends, ends as it must",
    ],
    "a termination without a request": [complete().instance("terminated"), "no instance is terminated unasked"],
    "a step that ended twice": [
      complete()
        .entry("first", { output: "first 1", at: new Date(15) })
        .instance("complete"),
      "a step ends once",
    ],
    "a gap in the journal": [complete().entry("gap", { position: 5 }).instance("complete"), "journals have no gaps"],
    "a body that ran after its commit": [
      complete()
        .body("first", "again", 15 + LONG_MS)
        .instance("complete"),
      "a committed step never runs again",
    ],
    "a result of one who had lost the instance": [
      new Evidence()
        .accepted()
        .body("first", "late", 10)
        .body("first", "successor", 1000)
        .entry("first", { output: "late", at: new Date(2000) })
        .instance("complete"),
      REFUSED,
    ],
    "a result of one whose instance another process had claimed": [
      new Evidence()
        .accepted()
        .body("first", "late", 10)
        .write("claimed", { process: "p2", run: 1, time: 1000 })
        .entry("first", { output: "late", at: new Date(2000) })
        .instance("complete"),
      REFUSED,
    ],
    "a step that goes on after its instance was terminated": [
      new Evidence()
        .accepted("terminated")
        .operated("terminate", "done")
        .done("first", 1000)
        .instance("terminated", { finishedAt: 500 }),
      REFUSED,
    ],
    "a step that goes on after its instance was restarted": [
      new Evidence()
        .accepted("restarted")
        .operated("restart", "done")
        .done("first", 1000)
        .instance("complete", { run: 2, startedAt: 500 }),
      REFUSED,
    ],
    "a result that no body returned": [
      new Evidence().accepted().entry("first", { output: "x" }).instance("complete"),
      "results come from bodies",
    ],
    "a result that the code didn't see": [
      new Evidence().accepted().done("first", 10).instance("complete", { output: first }),
      SEEN,
    ],
    "a result that isn't stored": [new Evidence().accepted().instance("complete", { output: first }), SEEN],
    "an idempotency key that changes": [
      complete().write("began", { step: "first", token: "x", time: 9, key: "other/1/do:first" }).instance("complete"),
      "idempotency keys stay",
    ],
    "an event that arrived twice": [listening(1, 2, 2), EVENTS],
    "an event that never arrived": [listening(1, 2), EVENTS],
    "events in another order": [listening(2, 1, 3), EVENTS],
    "an effect that isn't there": [
      new Evidence().accepted().done("effect", 10).instance("complete"),
      "what a step has done is there",
    ],
    "a child that isn't there": [
      complete().instance("complete", {
        output: { seen: { first: "first 1", last: "last 1" }, events: [], children: ["b"] },
      }),
      LOST,
    ],
    "an instance without a request": [new Evidence().instance("complete"), "nothing appears by itself"],
    "an instance that is there although it was refused": [
      new Evidence().write("asked", { kind: "sequence" }).write("refused", { code: "x" }).instance("complete"),
      "what is refused never happened",
    ],
    "an error that faults don't explain": [
      complete().operated("pause", "refused").instance("complete"),
      "faults give no strange errors",
    ],
  };

  test.each(Object.entries(cases))("%s", (_name, [evidence, promise]) => {
    expect(evidence.broken).toContain(promise);
  });
});
