import { describe, expect, test } from "vitest";
import { LoadBudget } from "./load-budget.ts";

const MEGABYTE = 1024 * 1024;

describe("the budget of loads", () => {
  test("lets small loads continue beside each other, and one large load at a time", async () => {
    const budget = new LoadBudget();
    const [first, second, small] = [budget.begin(), budget.begin(), budget.begin()];
    first.add(2 * MEGABYTE);
    second.add(2 * MEGABYTE);
    small.add(1000);
    await first.nextPage();
    let secondGoesOn = false;
    const waiting = second.nextPage().then(() => {
      secondGoesOn = true;
    });
    await small.nextPage();
    expect(secondGoesOn).toBe(false);
    first.loaded();
    await waiting;
    expect(budget.held).toBe(4 * MEGABYTE + 1000);
  });

  test("holds back large loads while others hold too much, and lets one that is alone have any size", async () => {
    const budget = new LoadBudget();
    const loads = Array.from({ length: 30 }, () => budget.begin());
    let most = 0;
    const runs = loads.map(async (load) => {
      for (let page = 0; page < 20; page++) {
        await load.nextPage();
        load.add(MEGABYTE);
        most = Math.max(most, budget.held);
      }
      load.loaded();
      await new Promise((resolve) => setImmediate(resolve)); // it is replayed
      load.release();
    });
    await Promise.all(runs);
    expect(most).toBeLessThan((64 + 20 + 2 * loads.length) * MEGABYTE);
    expect(budget.held).toBe(0);

    const huge = budget.begin();
    for (let page = 0; page < 1000; page++) {
      await huge.nextPage();
      huge.add(MEGABYTE);
    }
    expect(budget.held).toBe(1000 * MEGABYTE);
  });
});
