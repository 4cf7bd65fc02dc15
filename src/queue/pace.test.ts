import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

function paceOf({ run, claim }: { run: number; claim: number }): number {
  const pace = new Pace();
  for (let count = 0; count < 100; count++) {
    pace.noteRun(run);
    pace.noteClaim(claim);
  }
  return pace.perSlot;
}

test("one row for each place, as long as nothing is known", () => {
  expect(new Pace().perSlot).toBe(1);
});

test("one row for each place, while handlers take as long as a claim or longer", () => {
  expect(paceOf({ run: 5, claim: 5 })).toBe(1);
  expect(paceOf({ run: 1000, claim: 5 })).toBe(1);
});

test("a slot gets as many rows as it can run during a claim, and never more than ten", () => {
  expect(paceOf({ run: 1, claim: 5.5 })).toBe(5);
  expect(paceOf({ run: 0, claim: 50 })).toBe(10);
});

test("one slow handler among many fast ones makes it careful", () => {
  const pace = new Pace();
  for (let count = 0; count < 100; count++) pace.noteRun(0.1);
  pace.noteClaim(10);
  expect(pace.perSlot).toBeGreaterThan(1);
  pace.noteRun(1000);
  expect(pace.perSlot).toBe(1);
});

test("one again after it was wrong", () => {
  const pace = new Pace();
  pace.noteRun(0.1);
  pace.noteClaim(10);
  pace.reset();
  expect(pace.perSlot).toBe(1);
});
