import { env, type ObjectNamespace, runInDurableObject } from "cloudflare:test";
import { createDurableHooksProcessor, defineFragment, instantiate, migrate } from "perdure";
import { createDurableHooksDispatcherDurableObject } from "perdure/dispatchers/cloudflare-do";
import { durableObject, type ObjectState } from "perdure/durable-object";
import { describe, expect, test } from "vitest";
import { ControlledClock } from "../../src/testing/controlled-clock.ts";
import { eventually } from "../support/eventually.ts";

const MINUTE = 60_000;
/** Cloudflare ends an alarm that takes longer. */
const LONGEST_ALARM = 15 * MINUTE;

/** The storage of an object with an alarm that we ring ourselves, by a clock of our own. */
function withOwnAlarm({ storage, ...state }: ObjectState): { state: ObjectState; alarm: { at: number | null } } {
  const alarm: { at: number | null } = { at: null };
  const owned = {
    sql: storage.sql,
    transactionSync: storage.transactionSync.bind(storage),
    transaction: storage.transaction.bind(storage),
    getAlarm: async () => alarm.at,
    setAlarm: async (time: number | Date) => {
      alarm.at = Number(time);
    },
    deleteAlarm: async () => {
      alarm.at = null;
    },
  };
  return { state: { ...state, storage: owned, blockConcurrencyWhile: (body) => body() }, alarm };
}

/** A hook that runs until it is let go, in an object whose alarm rings as Cloudflare's does. */
async function begin(object: ObjectState) {
  const { state, alarm } = withOwnAlarm(object);
  const clock = new ControlledClock();
  const attempts: number[] = [];
  const { promise: letGo, resolve: end } = Promise.withResolvers<void>();
  const definition = defineFragment<undefined>("long")
    .provideHooks(({ defineHook }) => ({
      work: defineHook<string>(async (_payload, hook) => {
        attempts.push(hook.attempts);
        await letGo;
      }),
    }))
    .provideServices(({ unitOfWork }) => ({
      start: () => unitOfWork(async (uow) => void uow.triggerHook("work", "now")),
    }))
    .build();
  const durableHooks = { stuckProcessingTimeoutMinutes: false } as const;
  const databaseAdapter = durableObject(state, { clock });
  const fragment = instantiate(definition).withOptions({ databaseAdapter, durableHooks }).build();
  await migrate(fragment);
  const processor = createDurableHooksProcessor(fragment);
  const handler = createDurableHooksDispatcherDurableObject({ createProcessor: () => processor })(state, undefined);
  await fragment.services.start();
  await eventually(() => expect(attempts).toEqual([1]));
  /** Cloudflare takes an alarm away when it rings. */
  const ring = () => {
    alarm.at = null;
    const rung = { isOver: false };
    const over = handler.alarm().then(() => {
      rung.isOver = true;
    });
    return { rung, over };
  };
  const remaining = async () => (await fragment.durableHooks.list()).hooks.length;
  return { clock, alarm, attempts, letGo: end, ring, remaining };
}

describe("work that takes longer than an alarm may", () => {
  const inObject = <Result>(body: (work: Awaited<ReturnType<typeof begin>>) => Promise<Result>) => {
    const objects = env.DATABASE as ObjectNamespace;
    const stub = objects.get(objects.newUniqueId());
    return runInDurableObject(stub, async (_instance, state) => body(await begin(state)));
  };

  test("is handed from one alarm to the next, and continues meanwhile", () =>
    inObject(async ({ clock, alarm, attempts, ring }) => {
      for (let round = 1; round <= 3; round++) {
        const { rung, over } = ring();
        await clock.advanceAndSettle(1);
        expect(alarm.at).toBeLessThanOrEqual(clock.now() + 2000); // if the object is lost
        await clock.advanceAndSettle(5 * MINUTE - 1);
        expect(rung.isOver).toBe(false); // it keeps the object where it is
        await clock.advanceAndSettle(LONGEST_ALARM - 5 * MINUTE - 1);
        expect(rung.isOver).toBe(true);
        await over;
        expect(alarm.at).not.toBeNull();
      }
      expect(attempts).toEqual([1]);
    }));

  test("ends in whichever alarm is there, and leaves none behind", () =>
    inObject(async ({ clock, alarm, attempts, letGo, ring, remaining }) => {
      await Promise.all([ring().over, clock.advanceAndSettle(LONGEST_ALARM - 1)]);
      const { over } = ring();
      await clock.advanceAndSettle(MINUTE);
      letGo();
      await over;

      expect(attempts).toEqual([1]);
      expect(await remaining()).toBe(0);
      expect(alarm.at).toBeNull();
    }));

  test("ends between two alarms, and leaves none behind", () =>
    inObject(async ({ clock, alarm, letGo, ring, remaining }) => {
      await Promise.all([ring().over, clock.advanceAndSettle(LONGEST_ALARM - 1)]);
      expect(alarm.at).not.toBeNull();
      letGo();

      await eventually(async () => expect(await remaining()).toBe(0));
      await eventually(() => expect(alarm.at).toBeNull());
    }));
});
