import { afterAll, describe, expect, test } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import { createDurableHooksProcessor, defineFragment, instantiate } from "../../src/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";

/** Whatever a program in plain JavaScript may give. */
type Anything = never;

const databaseAdapter = sqlite(":memory:");
afterAll(() => databaseAdapter.store.close());

const greeting = defineFragment("greeting")
  .provideHooks(({ defineHook }) => ({ greet: defineHook((name: string) => name) }))
  .build();
const fragment = instantiate(greeting).withOptions({ databaseAdapter }).build();
const processor = createDurableHooksProcessor(fragment);

describe("a dispatcher that is refused", () => {
  test.each<[string, unknown, string]>([
    ["nothing", undefined, "it takes processor, pollIntervalMs, concurrency"],
    ["no processor", {}, "must not be null"],
    ["a processor that is null", { processor: null }, "must be made by createDurableHooksProcessor"],
    ["a fragment", { processor: fragment }, "must be made by createDurableHooksProcessor"],
    ["an unknown option", { processor, interval: 5 }, 'A dispatcher has no option "interval"'],
    ["no interval", { processor, pollIntervalMs: 0 }, "pollIntervalMs must be a whole number from 10 to 86400000"],
    ["an interval that is null", { processor, pollIntervalMs: null }, "pollIntervalMs must be a whole number"],
    ["no places", { processor, concurrency: 0 }, "concurrency must be a whole number from 1 to 100000"],
    ["half a place", { processor, concurrency: 0.5 }, "concurrency must be a whole number"],
    ["a lease that is too short", { processor, leaseMs: 999 }, "leaseMs must be a whole number from 1000 to 3600000"],
    ["a lease that never ends", { processor, leaseMs: Number.POSITIVE_INFINITY }, "leaseMs must be a whole number"],
    ["an onError that isn't one", { processor, onError: "log" }, "onError must be a function"],
  ])("says what is accepted: %s", (_, options, message) => {
    expect(() => createDurableHooksDispatcher(options as Anything)).toThrow(
      expect.objectContaining({
        name: "InvalidInputError",
        code: "options.invalid",
        message: expect.stringContaining(message),
      }),
    );
  });

  test.each<[unknown, string]>([
    [{ deadlineMs: -1 }, "deadlineMs must be a whole number from 0 to 86400000"],
    [{ deadlineMs: "5" }, "deadlineMs must be a whole number"],
    [{ deadlineMs: null }, "deadlineMs must be a whole number"],
    [{ deadline: 5 }, 'has no option "deadline"; it takes deadlineMs'],
    [null, "takes its options as an object"],
    [5000, "takes its options as an object"],
  ])("goes on as before when it is to stop or drain with %j", async (options, message) => {
    const dispatcher = createDurableHooksDispatcher({ processor: processor as Anything });
    for (const call of [dispatcher.stopPolling, dispatcher.drain]) {
      await expect(call(options as Anything)).rejects.toMatchObject({
        name: "InvalidInputError",
        code: "options.invalid",
        message: expect.stringContaining(message),
      });
    }
  });
});
