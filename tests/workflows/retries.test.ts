import { describe, expect, test } from "vitest";
import {
  defineWorkflow,
  NonRetryableError,
  type WorkflowStepConfig,
  type WorkflowStepContext,
} from "../../src/index.ts";
import { forever } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { outliveLeases } from "./support/lose-process.ts";
import { eventually, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

function raise(error: Error): never {
  throw error;
}

describe.each(ENGINES)("retries of steps on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** The waits between the attempts of a step that always fails, as they are stored. */
  async function waitsOf(config: WorkflowStepConfig, fail: () => unknown) {
    const attempts: (WorkflowStepContext & { failedAt: number })[] = [];
    const workflow = defineWorkflow({ name: "failing" }, async (_event, step) =>
      step.do("work", config, (ctx) => {
        attempts.push({ ...ctx, failedAt: subject.clock.now() });
        throw fail();
      }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await untilIdleStatus(instance, "errored");
    const { entries } = await instance.history();
    const waits = entries
      .filter(({ kind }) => kind === "failed")
      .map(({ dueAt }, index) =>
        dueAt === undefined ? null : dueAt.getTime() - (attempts[index]?.failedAt as number),
      );
    const state = await instance.status();
    await process.close();
    return { waits, attempts, logs: process.logs, state };
  }

  /** Moves the clock only from timer to timer, and only when nothing is on its way: so times come out exactly. */
  async function untilIdleStatus(instance: { status(): Promise<{ status: string }> }, wanted: string): Promise<void> {
    let looks = 0;
    await eventually(async () => {
      if (++looks % 20 === 0) await subject.clock.advanceAndSettle(subject.clock.nextTimer ?? 0);
      expect((await instance.status()).status).toBe(wanted);
    });
  }

  test("are five by default, after 1, 2, 4, 8 and 16 seconds", async () => {
    const { waits, attempts } = await waitsOf({}, () => new Error("no"));

    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, null]);
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(attempts[0]?.config).toEqual({
      retries: { limit: 5, delay: 1000, backoff: "exponential" },
      timeout: 600_000,
    });
  });

  test.each([
    [{ limit: 2 }, [1000, 2000, null]],
    [{ limit: 0 }, [null]],
    [{ limit: 3, backoff: "linear" as const }, [1000, 2000, 3000, null]],
    [{ limit: 3, backoff: "constant" as const }, [1000, 1000, 1000, null]],
    [{ limit: 2, delay: "3 seconds" as const }, [3000, 6000, null]],
    [{ limit: 2, delay: 10 }, [10, 20, null]],
  ])("of %o take each other field from the defaults", async (retries, expected) => {
    const { waits } = await waitsOf({ retries }, () => new Error("no"));

    expect(waits).toEqual(expected);
  });

  test("wait as long as a function says, at once or later, with the backoff applied to it", async () => {
    const asked: unknown[] = [];
    const delay = ({ ctx, error }: { ctx: WorkflowStepContext; error: Error }) => {
      asked.push([ctx.attempt, ctx.step.name, error.message]);
      return ctx.attempt * 700;
    };
    const waits = async (backoff?: "constant" | "linear") =>
      (await waitsOf({ retries: { limit: 3, delay, ...(backoff ? { backoff } : {}) } }, () => new Error("no"))).waits;

    expect(await waits()).toEqual([700, 2 * 1400, 4 * 2100, null]);
    expect(asked).toEqual([1, 2, 3].map((attempt) => [attempt, "work", "no"]));
    expect(await waits("linear")).toEqual([700, 2 * 1400, 3 * 2100, null]);
    expect(await waits("constant")).toEqual([700, 1400, 2100, null]);
    const retries = { limit: 2, delay: async () => "90 seconds" as const };
    expect((await waitsOf({ retries }, () => new Error("no"))).waits).toEqual([90_000, 180_000, null]);
  });

  test.each<[string, string, () => never]>([
    ["throws", "oh", () => raise(new Error("oh"))],
    ["rejects", "oh", () => Promise.reject(new Error("oh")) as never],
    ["gives no duration", "The delay", () => "soon" as never],
    ["gives nothing", "The delay", () => undefined as never],
    ["gives a negative number", "The delay", () => -1 as never],
    ["gives no number", "The delay", () => Number.NaN as never],
    ["gives more than a year", "at most 1 year", () => (400 * 86_400_000) as never],
    ["doesn't answer within five seconds", "5 seconds", () => forever() as never],
  ])("don't come where the function %s: the step fails at once", async (_, why, delay) => {
    const { waits, attempts, state } = await waitsOf({ retries: { limit: 2, delay } }, () => new TypeError("no"));

    expect(waits).toEqual([null]);
    expect(attempts).toHaveLength(1);
    expect(state.error).toMatchObject({ code: "step.delay_failed", message: expect.stringContaining(why) });
  });

  test("that have no delay leave what the attempt threw as the cause", async () => {
    const delay = () => raise(new Error("oh"));
    const workflow = defineWorkflow({ name: "undecided" }, async (_event, step) =>
      step
        .do("work", { retries: { limit: 2, delay } }, () => raise(new TypeError("no")))
        .catch((error: Error) => [error.message, error.cause]),
    );
    const instance = await subject.start({ workflow }).workflows.workflow.create();
    await untilStatus(subject.clock, instance, "complete");

    const [message, cause] = (await instance.result()) as [string, Error];
    expect(message).toMatch(/oh.*no/);
    expect(cause).toBeInstanceOf(TypeError);
  });

  test("are reported, each with the error of the attempt before it, and so is the end", async () => {
    const retries = { limit: 2, delay: 1000, backoff: "constant" } as const;
    const workflow = defineWorkflow({ name: "told" }, async (_event, step) =>
      step.do("work", { retries }, ({ attempt }) => {
        throw new Error(`no ${attempt}`);
      }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await untilStatus(subject.clock, instance, "errored");
    await eventually(() => expect(process.errors).toHaveLength(3));

    const step = "step do:work of the workflow told one";
    expect(process.errors.map(({ attempt }) => attempt)).toEqual([
      { error: new Error("no 1"), description: step, attempt: 1, final: false },
      { error: new Error("no 2"), description: step, attempt: 2, final: false },
      { error: new Error("no 3"), description: "workflow told one", attempt: 1, final: true },
    ]);
  });

  test("are the same five where no config is given at all", async () => {
    let attempts = 0;
    const workflow = defineWorkflow({ name: "plain" }, async (_event, step) =>
      step.do("work", () => {
        attempts++;
        throw new Error("no");
      }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await untilStatus(subject.clock, instance, "errored");

    expect(attempts).toBe(6);
  });

  test("wait as long as the error asks for", async () => {
    const duration = await waitsOf({ retries: { limit: 1 } }, () =>
      Object.assign(new Error("busy"), { retryAfter: "7 seconds" }),
    );
    const date = await waitsOf({ retries: { limit: 1 } }, () =>
      Object.assign(new Error("busy"), { retryAfter: new Date(subject.clock.now() + 12_000) }),
    );

    expect(duration.waits).toEqual([7000, null]);
    expect(date.waits).toEqual([12_000, null]);
  });

  test("never come after a NonRetryableError, whatever its name", async () => {
    const plain = await waitsOf({}, () => new NonRetryableError("stop"));
    const named = await waitsOf({}, () => new NonRetryableError("stop", "CardDeclined"));

    expect(plain.attempts).toHaveLength(1);
    expect(named.attempts).toHaveLength(1);
    expect(named.state).toMatchObject({ error: { name: "CardDeclined", message: "stop" } });
  });

  test("come when they are due, also in another process", async () => {
    const times: number[] = [];
    const workflow = defineWorkflow({ name: "patient" }, async (_event, step) =>
      step.do("work", { retries: { limit: 3, delay: "10 minutes" } }, ({ attempt }) => {
        times.push(subject.clock.now());
        if (attempt === 1) throw new Error("not yet");
        return attempt;
      }),
    );
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    const begin = subject.clock.now();
    await untilStatus(subject.clock, created, "waiting");
    const { entries } = await created.history();
    const dueAt = entries[0]?.dueAt?.getTime() as number;
    await first.close();
    subject.clock.advance(dueAt - subject.clock.now() - 5000);
    const second = subject.start({ workflow });
    const instance = await second.workflows.workflow.get("one");
    await untilStatus(subject.clock, instance, "complete");

    expect(dueAt).toBeGreaterThanOrEqual(begin + 600_000);
    expect(await instance.result()).toBe(2);
    expect(times[1]).toBeGreaterThanOrEqual(dueAt);
  });

  test("have one key for all attempts, also after a takeover; other steps, counts and runs have others", async () => {
    const keys: string[] = [];
    let stuck = true;
    const workflow = defineWorkflow({ name: "keyed" }, async (_event, step) => {
      for (const name of ["a", "a", "b"]) {
        await step.do(name, async ({ attempt, idempotencyKey, step: place }) => {
          keys.push(`${place.name}#${place.count} ${idempotencyKey}`);
          if (name === "a" && place.count === 1 && attempt === 1) throw new Error("again");
          if (name === "b" && stuck) await forever();
        });
      }
    });
    const first = subject.start({ workflow }, { clock: subject.clock });
    const created = await first.workflows.workflow.create({ id: "one" });
    await withTime(subject.clock, () => expect(keys).toHaveLength(4));
    stuck = false;
    await first.close();
    const second = subject.start({ workflow });
    const instance = await second.workflows.workflow.get("one");
    await untilStatus(subject.clock, instance, "complete");
    await instance.restart();
    await withTime(subject.clock, () => expect(keys.length).toBeGreaterThanOrEqual(9));
    await untilStatus(subject.clock, instance, "complete");

    expect(created.id).toBe("one");
    const firstRun = new Set(keys.slice(0, 5));
    const secondRun = new Set(keys.slice(5));
    expect(firstRun.size).toBe(3);
    expect(secondRun.size).toBe(3);
    expect(new Set([...keys].map((key) => key.split(" ")[1])).size).toBe(6);
  });

  test("count an attempt that was lost with its process", async () => {
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "lost" }, async (_event, step) => {
      await step.do("work", async ({ attempt }) => {
        attempts.push(attempt);
        if (attempts.length === 1) await forever();
      });
      await step.do("next", ({ attempt }) => void attempts.push(attempt));
    });
    const first = subject.start({ workflow }, { clock: subject.anotherClock() });
    await first.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(attempts).toEqual([1]));
    outliveLeases(subject);
    const second = subject.start({ workflow });
    const instance = await second.workflows.workflow.get("one");
    await untilStatus(subject.clock, instance, "complete");

    expect(attempts).toEqual([1, 2, 1]);
  });

  test("don't come where no attempt is left after a loss", async () => {
    let runs = 0;
    const workflow = defineWorkflow({ name: "once" }, async (_event, step) =>
      step.do("work", { retries: { limit: 0 } }, async () => {
        runs++;
        await forever();
      }),
    );
    const first = subject.start({ workflow }, { clock: subject.anotherClock() });
    await first.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(runs).toBe(1));
    outliveLeases(subject);
    const second = subject.start({ workflow });
    const instance = await second.workflows.workflow.get("one");
    await untilStatus(subject.clock, instance, "errored");

    expect(runs).toBe(1);
    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "step.interrupted" } });
  });
});
