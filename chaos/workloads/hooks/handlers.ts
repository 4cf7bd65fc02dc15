import { setTimeout as delay } from "node:timers/promises";
import { defineHook, type HookContext, type HookDefinition, NonRetryableError } from "../../../src/index.ts";
import { LEASE_MS } from "../../settings.ts";
import type { WorkingProcess } from "../../workload.ts";
import { rightTime } from "../../wrong-clock.ts";
import { FEW_RETRIES, type HookName, INNOCENT_RETRIES, type Item } from "./kinds.ts";

export type ChaosHooks = Readonly<Record<HookName, HookDefinition<Item, Item>>>;

const LONGEST_WORK_MS = 30;

/**
 * What handlers do with their items. The record "ran" is a handler's side effect: the ledger has it as often as it happened.
 */
export function createHooks(working: WorkingProcess): ChaosHooks {
  const { random, points, write, app } = working;
  const define = (retries: object, behave: (item: Item, hook: HookContext) => unknown) =>
    defineHook({ retries }, async (item: Item, hook) => {
      const attempt = { attempt: hook.attempts, key: hook.idempotencyKey };
      write("began", item.id, { ...attempt, time: rightTime() });
      await delay(random.integer(0, LONGEST_WORK_MS));
      points.reach("mid-handler");
      await behave(item, hook);
      write("ran", item.id, attempt);
    });
  return {
    note: define(INNOCENT_RETRIES, () => {}),
    effect: define(INNOCENT_RETRIES, async ({ id }, { idempotencyKey }) => {
      await app().unitOfWork(
        (uow) => uow.sql`insert into chaos_effect (key, item) values (${idempotencyKey}, ${id}) on conflict do nothing`,
      );
    }),
    slow: define(INNOCENT_RETRIES, (_item, { signal }) => delay(LEASE_MS * 1.5, undefined, { signal })),
    flaky: define(INNOCENT_RETRIES, (_item, { attempts }) => {
      if (attempts === 1) throw new Error("flaky: not at the first attempt");
    }),
    refuse: define(INNOCENT_RETRIES, () => {
      throw new NonRetryableError("refused for good");
    }),
    exhaust: define(FEW_RETRIES, () => {
      throw new Error("never succeeds");
    }),
    waver: define(INNOCENT_RETRIES, (_item, { attempts }) => refuseAtFirst(attempts)),
    late: define(INNOCENT_RETRIES, (_item, { attempts }) => {
      if (attempts === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LEASE_MS * 1.8);
      refuseAtFirst(attempts);
    }),
    poison: define(FEW_RETRIES, async () => {
      process.kill(process.pid, "SIGKILL");
      await delay(60_000); // the signal comes at once
    }),
  };
}

/** The worker that takes over makes it succeed. A later permanent failure of the first owner must not count. */
function refuseAtFirst(attempts: number): void {
  if (attempts === 1) throw new NonRetryableError("refused at the first attempt");
}
