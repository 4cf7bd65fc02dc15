import { describe, expect, test } from "vitest";
import { accountForPostings, type PostedInstance, type Posting } from "../../chaos/posting-accounts.ts";

const posting: Posting = { item: "a", step: "first", token: "t1", account: "x", attempt: 1 };
const instance: PostedInstance = {
  item: "a",
  status: "complete",
  seen: { first: "t1" },
  stored: [{ step: "first", token: "t1" }],
};
const ONCE = "a step's transaction is committed exactly once, with its entry";

function brokenBy({
  postings = [posting],
  instances = [instance],
  balance = postings.length,
}: {
  readonly postings?: readonly Posting[];
  readonly instances?: readonly PostedInstance[];
  readonly balance?: number;
}): string[] {
  const evidence = { steps: ["first"], instances, postings, balances: { x: balance }, bodies: 2 };
  return accountForPostings(evidence).problems.map(({ promise }) => promise);
}

describe("the accounts of commits that were cut", () => {
  test("find nothing wrong with a row that was committed once with its entry", () => {
    expect(brokenBy({})).toEqual([]);
  });

  test("notice a row that was written twice, also by the same call of a body", () => {
    expect(brokenBy({ postings: [posting, { ...posting, token: "t2" }] })).toEqual([ONCE]);
    expect(brokenBy({ postings: [posting, posting] })).toEqual([ONCE]);
  });

  test("notice a row or an entry that is missing", () => {
    expect(brokenBy({ postings: [] })).toEqual([ONCE]);
    expect(brokenBy({ instances: [{ ...instance, stored: [] }] })).toEqual([ONCE]);
  });

  test("notice an entry that isn't of the call whose row was committed", () => {
    expect(brokenBy({ instances: [{ ...instance, stored: [{ step: "first", token: "t2" }] }] })).toEqual([ONCE]);
    expect(brokenBy({ instances: [{ ...instance, seen: { first: "t2" } }] })).toEqual([ONCE]);
  });

  test("notice instances that failed, attempts that were counted, and rows of no instance", () => {
    expect(brokenBy({ instances: [{ ...instance, status: "errored" }] })).toEqual(["database errors fail no instance"]);
    expect(brokenBy({ postings: [{ ...posting, attempt: 2 }] })).toEqual(["database errors use up no attempts"]);
    expect(brokenBy({ postings: [posting, { ...posting, item: "b" }] })).toEqual(["nothing appears by itself"]);
  });

  test("notice a balance that isn't the sum of its postings", () => {
    expect(brokenBy({ balance: 2 })).toEqual(["the ledger is exact"]);
  });
});
