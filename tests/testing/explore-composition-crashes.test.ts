import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { StoredInstances } from "../../src/store/instances/stored-instances.ts";
import { exploreCrashes } from "../../src/testing/index.ts";

afterEach(() => vi.restoreAllMocks());

/** A parent that waits for two children and for one that fails; everything happens once, whatever crashes. */
function exploreChildren() {
  return exploreCrashes(
    {
      setUp() {
        const effects = new Set<string>();
        const child = defineWorkflow({ name: "child" }, async ({ payload }: WorkflowEvent<number>, step) => {
          await step.sleep("grow", "10 seconds");
          await step.do("work", ({ idempotencyKey }) => void effects.add(idempotencyKey));
          if (payload === 0) throw new RangeError("There is nothing to double.");
          return payload * 2;
        });
        const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
          const children = await Promise.all([1, 2, 0].map((params) => step.create(child, { params })));
          const ends = await Promise.allSettled(children.map((one) => one.result({ timeout: "1 hour" })));
          return ends.map((end) => (end.status === "fulfilled" ? end.value : String(end.reason.cause?.name)));
        });
        return { workflows: { parent, child }, effects };
      },
      run: (app) => app.workflows.parent.create({ id: "one", onConflict: "return" }),
      check: async (app, { effects }) => {
        const { status, output } = await (await app.workflows.parent.get("one")).status();
        return { status, output, effects: effects.size };
      },
    },
    { runAgain: true },
  );
}

/** A workflow that gives a token out, and its holder, who tries again if there is no answer. */
function exploreTokens() {
  return exploreCrashes(
    {
      setUp() {
        const given = new Set<string>();
        const ask = defineWorkflow({ name: "ask" }, async (_event, step) => {
          const token = await step.createToken<string>("decision", { timeout: "1 hour" });
          await step.do("give out", () => void given.add(token.value));
          const decision = await token.result();
          return `${decision}, by ${await step.do("note", () => "the holder")}`;
        });
        return { workflows: { ask }, given };
      },
      run: async (app, { given }) => {
        await app.workflows.ask.create({ id: "one", onConflict: "return" });
        await app.advance("1 minute"); // a crashed process holds its lease for half of that
        const [token = ""] = given;
        await app.completeToken(token, "yes").catch((error: { code?: string }) => {
          if (error.code !== "token.used") throw error;
        });
      },
      check: async (app, { given }) => {
        const { status, output } = await (await app.workflows.ask.get("one")).status();
        return { status, output, tokens: given.size };
      },
    },
    { runAgain: true },
  );
}

/** An instance that is created with its event. Its caller does not try again. */
function exploreFirstEvents() {
  return exploreCrashes({
    setUp() {
      const cart = defineWorkflow({ name: "cart" }, async (_event, step) => {
        return (await step.waitForEvent<string>("item", { type: "added", timeout: "1 hour" })).payload;
      });
      return { workflows: { cart } };
    },
    run: (app) => app.workflows.cart.createOrSend({ id: "one", event: { type: "added", payload: "a pen" } }),
    check: async (app) => {
      const [instance] = (await app.workflows.cart.list()).instances;
      return instance === undefined ? "nothing" : `${instance.status} ${instance.output ?? ""}`;
    },
  });
}

const outcomes = ({ outcomes: all }: { outcomes: readonly { outcome: unknown }[] }) =>
  all.map(({ outcome }) => outcome);

describe("crashes at every commit make no difference", () => {
  test("to a parent that waits for the ends of its children", async () => {
    const report = await exploreChildren();
    expect(outcomes(report)).toEqual([{ status: "complete", output: [2, 4, "RangeError"], effects: 3 }]);
    expect(report.runs).toBeGreaterThan(20);
  });

  test("to a token, its holder and its wait", async () => {
    const report = await exploreTokens();
    expect(outcomes(report)).toEqual([{ status: "complete", output: "yes, by the holder", tokens: 1 }]);
    expect(report.runs).toBeGreaterThan(6);
  });

  test("to an instance that is created with its event, unless it was not created at all", async () => {
    const report = await exploreFirstEvents();
    expect(outcomes(report)).toEqual(["complete a pen", "nothing"]);
    const lost = report.outcomes[1]?.crashes.map(({ when, during }) => `${when} ${during}`);
    expect(lost).toEqual(["before create cart"]);
  });
});

describe("crashes at every commit show", () => {
  test("that the wait for a child was not stored", async () => {
    vi.spyOn(StoredInstances.prototype, "awaitEnd").mockResolvedValue({ result: "waiting" });
    expect(outcomes(await exploreChildren())).not.toEqual([
      { status: "complete", output: [2, 4, "RangeError"], effects: 3 },
    ]);
  });

  test("that the payload of a token was acknowledged before it was stored", async () => {
    vi.spyOn(StoredInstances.prototype, "sendEvent").mockResolvedValue({ result: "sent", ref: "" });
    expect(outcomes(await exploreTokens())).not.toEqual([
      { status: "complete", output: "yes, by the holder", tokens: 1 },
    ]);
  });

  test("that an instance was created before its event", async () => {
    const { insert } = StoredInstances.prototype;
    vi.spyOn(StoredInstances.prototype, "insert").mockImplementation(async function (this: StoredInstances, all) {
      const results = await insert.call(
        this,
        all.map(({ event: _, ...instance }) => instance),
      );
      for (const { event, namespace, name, id } of all) {
        if (event !== undefined) await this.sendEvent({ ...event, namespace, name, id });
      }
      return results;
    });
    const [first, ...others] = outcomes(await exploreFirstEvents());
    expect(first).toBe("complete a pen");
    expect(others).toContain("errored "); // it waited in vain
  });
});
