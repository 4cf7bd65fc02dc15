import type { HookContext } from "../../src/hooks/hook-context.ts";
import type { Run } from "../books/run-book.ts";
import type { HookBehaviour } from "../books/trigger-record.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { never } from "./behave.ts";

/** The database waits for a transaction. */
const TIMEOUT_MS = 4000;
const LONGEST_WORK_MS = 300;

/** The plans of handlers in worlds in which they have transactions. */
const TRANSACTING: Partial<Record<HookBehaviour, HookBehaviour>> = {
  succeed: "transact",
  work: "transact",
  effect: "transact-unawaited",
  chain: "transact-and-throw",
  throw: "roll-back",
  "effect-and-kill": "transact-and-kill",
};

export function inTransactions(plan: readonly HookBehaviour[]): HookBehaviour[] {
  return plan.map((behaviour) => TRANSACTING[behaviour] ?? behaviour);
}

/**
 * Completes the hook in a transaction that writes a row with its key. Returns whether the behaviour is one of a transaction.
 */
export async function transact(
  process: SimulatedProcess,
  behaviour: HookBehaviour,
  hook: HookContext,
  run: Run,
): Promise<boolean> {
  switch (behaviour) {
    case "transact":
      await write(process, hook, run);
      return true;
    case "transact-and-throw":
      await write(process, hook, run);
      throw new Error("simulated failure after the commit");
    case "transact-and-kill":
      await write(process, hook, run);
      process.kill("its handler ends it after its transaction");
      return never();
    case "transact-unawaited":
      write(process, hook, run).catch(() => {}); // the attempt has its error
      return true;
    case "roll-back":
      await write(process, hook, run, new Error("simulated failure in a transaction"));
      return true;
    default:
      return false;
  }
}

async function write(process: SimulatedProcess, hook: HookContext, run: Run, failure?: Error): Promise<void> {
  const { world, book } = process.surroundings;
  const { ledger } = book.runs;
  await hook.transaction({ timeout: TIMEOUT_MS }, async (tx) => {
    if (process.lane.closed) return never();
    ledger.begins(run);
    await tx.sql`insert into settled (key) values (${hook.idempotencyKey})`;
    await world.delay(process.lane, world.random.integer(0, LONGEST_WORK_MS));
    if (failure !== undefined) throw failure;
    run.transaction = "sealed";
  });
  ledger.told(run);
}
