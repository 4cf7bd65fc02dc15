import { describe, expect, test } from "vitest";
import { createTestApp } from "../../src/testing/index.ts";
import { createTour } from "./support/tour.ts";

describe("a result that is waited for", () => {
  test("comes when its time has come, and waiting for it takes no time", async () => {
    const { tour } = createTour((step) => step.sleep("long", "300 days"));
    await using app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create();
    let result: unknown;
    const waiting = instance.result().then((value) => {
      result = value;
    });
    await app.runUntilIdle();
    expect(result).toBeUndefined();
    await app.advance("1 year");
    await waiting;
    expect(result).toEqual({});
  });

  test("is given up when its time is over, by the time of the test", async () => {
    const { tour } = createTour((step) => step.sleep("long", "1 hour"));
    await using app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create();
    const waiting = instance.result({ timeout: "1 minute" });
    const refused = expect(waiting).rejects.toMatchObject({ code: "result.timeout" });
    await app.advance("1 minute");
    await refused;
    await app.advance("1 hour");
    expect(await instance.result({ timeout: "1 minute" })).toEqual({});
  });

  test("outlives a crash, and its time continues", async () => {
    const { tour } = createTour((step) => step.sleep("long", "1 hour"));
    await using app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create();
    const waiting = instance.result();
    const refused = expect(instance.result({ timeout: "30 minutes" })).rejects.toMatchObject({
      code: "result.timeout",
    });
    await app.advance("10 minutes");
    await app.crash();
    await app.advance("20 minutes");
    await refused;
    await app.advance("1 hour");
    expect(await waiting).toEqual({});
  });
});
