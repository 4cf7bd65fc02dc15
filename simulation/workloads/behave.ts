import { NonRetryableError } from "../../src/errors.ts";
import type { Behaviour } from "../books/trigger-record.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";

const IGNORES_ABORT_FOR_MS = 150_000;

/** Does what a plan says for one call of a handler, or of a step's function. */
export async function behave(
  process: SimulatedProcess,
  behaviour: Behaviour,
  { idempotencyKey, signal }: { readonly idempotencyKey: string; readonly signal: AbortSignal },
): Promise<void> {
  const { world } = process.surroundings;
  const work = () => world.delay(process.lane, world.random.integer(0, 3000));
  switch (behaviour) {
    case "succeed":
      return;
    case "work":
      return work();
    case "effect":
      return writeEffect(process, idempotencyKey);
    case "chain":
      return process.triggerOnce(`after-${idempotencyKey}`);
    case "throw":
      await work();
      throw new Error("simulated failure");
    case "refuse":
      throw new NonRetryableError("simulated refusal");
    case "hang":
      return hang(signal);
    case "ignore":
      return world.delay(process.lane, IGNORES_ABORT_FOR_MS);
    case "effect-and-kill":
      await writeEffect(process, idempotencyKey);
      process.kill("its handler ends it after the effect");
      return never();
    case "kill":
      process.kill("its handler ends it");
      return never();
  }
}

/** An effect in the database, once for each idempotency key: as users are told to do it. */
async function writeEffect(process: SimulatedProcess, key: string): Promise<void> {
  await process.fragment.unitOfWork(async (uow) => {
    const [known] = await uow.sql`select 1 from handled where key = ${key}`;
    if (known === undefined) await uow.sql`insert into handled (key) values (${key})`;
  });
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

export function never(): Promise<never> {
  return new Promise(() => {});
}
