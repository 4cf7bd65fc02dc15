import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Ledger, ledgerPath, readLedgers } from "../../chaos/ledger.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "perdure-ledger-"));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("a ledger that several processes wrote is read in the order of time", () => {
  const one = new Ledger(ledgerPath(directory, "p1"), "p1");
  const other = new Ledger(ledgerPath(directory, "p2"), "p2");
  one.write("hooks", "asked", "a", { kind: "plain" });
  other.write("hooks", "began", "a");
  one.write("hooks", "accepted", "a");

  const entries = readLedgers(directory);
  expect(entries.map(({ process, did }) => [process, did])).toEqual([
    ["p1", "asked"],
    ["p2", "began"],
    ["p1", "accepted"],
  ]);
  expect(entries[0]).toMatchObject({ workload: "hooks", item: "a", kind: "plain" });
});

test("the half line of a process that was killed while it wrote doesn't count", () => {
  const path = ledgerPath(directory, "p1");
  new Ledger(path, "p1").write("hooks", "asked", "a");
  appendFileSync(path, '{"at":1,"process":"p1","wo');
  expect(readLedgers(directory)).toHaveLength(1);
});
