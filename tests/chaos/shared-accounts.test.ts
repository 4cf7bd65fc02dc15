import { describe, expect, test } from "vitest";
import type { Entry } from "../../chaos/ledger.ts";
import { accountForShared, type CollectedShared } from "../../chaos/workloads/shared/accounts.ts";

const instance: CollectedShared = { id: "a", status: "complete", by: "one" };
const ONE_CALLER = "each id is created once, and by one caller";
const NO_FAILURE = "writers of the same ids don't fail, whatever their order";

function told(by: string, did: string, details: object = {}): Entry[] {
  const entry = { at: 1, process: "p1", workload: "shared ids", item: "a", way: "batch", by };
  return [
    { ...entry, did: "asked" },
    { ...entry, did, ...details },
  ];
}

function brokenBy(entries: readonly Entry[], ...collected: readonly CollectedShared[]): string[] {
  return accountForShared(entries, collected).problems.map(({ promise }) => promise);
}

describe("the accounts of ids that several processes write", () => {
  test("find nothing wrong if one caller created it and the others got that answer", () => {
    const entries = [
      ...told("one", "accepted", { created: true }),
      ...told("two", "accepted", { created: false }),
      ...told("three", "unknown", { code: "store.failed", state: null }),
    ];
    expect(brokenBy(entries, instance)).toEqual([]);
    expect(accountForShared(entries, [instance]).table.batch).toMatchObject({
      calls: 3,
      accepted: 2,
      shared: 1,
      lost: 0,
    });
  });

  test("notice an id that was accepted and isn't there, or has failed", () => {
    expect(brokenBy(told("one", "accepted", { created: true }))).toEqual(["nothing accepted is lost"]);
    const errored = { ...instance, status: "errored" };
    expect(brokenBy(told("one", "accepted", { created: true }), errored)).toEqual(["database errors fail no instance"]);
  });

  test("notice a caller whose answer says that it created what another did, or that it didn't create its own", () => {
    expect(brokenBy(told("two", "accepted", { created: true }), instance)).toEqual([ONE_CALLER]);
    expect(brokenBy(told("one", "accepted", { created: false }), instance)).toEqual([ONE_CALLER]);
  });

  test("notice callers that were refused, and callers that met a deadlock", () => {
    expect(brokenBy(told("one", "refused", { code: "instance.already_exists" }), instance)).toEqual([NO_FAILURE]);
    expect(brokenBy(told("one", "unknown", { state: "40P01" }), instance)).toEqual([NO_FAILURE]);
  });
});
