import { describe, expect, test } from "vitest";
import type { Entry } from "../../chaos/ledger.ts";
import { accountForSubjects, type CollectedSubject } from "../../chaos/workloads/subjects/accounts.ts";

/** The ledgers and the database of a run, as a test wants them to be. */
class Evidence {
  readonly #entries: Entry[] = [];
  readonly #collected: CollectedSubject[] = [];
  #at = 0;

  write(did: string, item: string, details: object = {}): this {
    this.#entries.push({ at: ++this.#at, process: "p1", workload: "subjects", did, item, ...details });
    return this;
  }

  accepted(item: string): this {
    return this.write("asked", item, { kind: "pages" }).write("accepted", item);
  }

  page(item: string, revision: number, page: number): this {
    return this.write("began", item, { revision, page }).write("stored", item, { revision, page: page + 1 });
  }

  inTheEnd(subjectKey: string, succeeded = true): this {
    this.#collected.push({ subjectKey, succeeded, page: 5 });
    return this;
  }

  get account() {
    return accountForSubjects(this.#entries, this.#collected);
  }

  get broken(): string[] {
    return this.account.problems.map(({ promise }) => promise);
  }
}

describe("the accounts of subjects", () => {
  test("find nothing wrong with subjects that were completed, also by a second owner", () => {
    const evidence = new Evidence().accepted("a").page("a", 2, 1).write("began", "a", { revision: 2, page: 2 });
    evidence.page("a", 5, 2).write("completed", "a", { revision: 7 }).inTheEnd("a");
    expect(evidence.broken).toEqual([]);
    expect(evidence.account.table.pages).toMatchObject({ accepted: 1, completed: 1, pages: 2, "pages again": 1 });
  });

  test("find an accepted subject that isn't there, or was never completed", () => {
    expect(new Evidence().accepted("a").broken).toEqual(["nothing accepted is lost"]);
    expect(new Evidence().accepted("a").inTheEnd("a", false).broken).toEqual(["nothing accepted is lost"]);
    const unknown = new Evidence()
      .write("asked", "a", { kind: "pages" })
      .write("unknown", "a", { code: "store.unavailable" });
    expect(unknown.broken).toEqual([]);
  });

  test("notice an owner that begins before a checkpoint that another owner's answer acknowledged", () => {
    const worker = new Evidence().accepted("a").page("a", 2, 1).page("a", 2, 2).page("a", 6, 1).inTheEnd("a");
    expect(worker.broken).toEqual(["progress that was acknowledged is never taken back"]);
    const script = new Evidence()
      .write("claimed", "script-1", { revision: 2, page: 1 })
      .write("stored", "script-1", { revision: 3, page: 2 })
      .write("claimed", "script-1", { revision: 5, page: 1 });
    expect(script.broken).toEqual(["progress that was acknowledged is never taken back"]);
  });

  test("let a script begin again what another may have completed", () => {
    const script = new Evidence()
      .write("claimed", "script-1", { revision: 2, page: 1 })
      .write("stored", "script-1", { revision: 3, page: 4 })
      .write("ending", "script-1", { revision: 3 })
      .write("claimed", "script-1", { revision: 6, page: 1 });
    expect(script.broken).toEqual([]);
  });

  test("find two owners that both succeeded, and strange errors", () => {
    const twice = new Evidence().accepted("a").write("completed", "a").write("completed", "a").inTheEnd("a");
    expect(twice.broken).toEqual(["two owners never both succeed"]);
    const strange = new Evidence().write("refused", "script", { code: "subject.invalid", message: "no" });
    expect(strange.broken).toEqual(["faults give no strange errors"]);
  });
});
