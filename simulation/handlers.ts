import { NonRetryableError } from "../src/errors.ts";
import { defineHook, type HookDefinition } from "../src/hooks/define-hook.ts";
import type { HookContext } from "../src/hooks/hook-context.ts";
import type { HookName } from "./names.ts";
import type { Run } from "./run-book.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { Behaviour, Payload } from "./trigger-record.ts";

/** What hooks that say nothing else get. */
export const DEFAULT_LIMIT = 2;
const IGNORES_ABORT_FOR_MS = 150_000;

export type SimulatedHooks = Readonly<Record<HookName, HookDefinition<Payload, Payload>>>;

/** The hooks of one process. Their handlers do what the payload says, and write everything into the ledger. */
export function createHooks(process: () => SimulatedProcess): SimulatedHooks {
  const hook = () =>
    defineHook({ retries: { limit: DEFAULT_LIMIT, delay: 1000 } }, (payload: Payload, context: HookContext) =>
      handle(process(), payload, context),
    );
  return { work: hook(), other: hook() };
}

async function handle(process: SimulatedProcess, payload: Payload, hook: HookContext): Promise<void> {
  if (process.lane.closed) return never(); // what is left of this turn when another handler has ended the process
  const { world, book } = process.surroundings;
  const behaviour = payload.plan[Math.min(hook.attempts, payload.plan.length) - 1] as Behaviour;
  const run = book.runs.started(process.name, payload, hook);
  world.note(process.name, `handler of ${run.key} (#${run.n}) starts, attempt ${hook.attempts}: ${behaviour}`);
  for (const earlier of book.runs.besides(run)) process.surroundings.watchOverlap(earlier, run);
  try {
    await behave(process, behaviour, payload, hook);
    end(process, run, "succeeded");
  } catch (error) {
    end(process, run, error instanceof NonRetryableError ? "refused" : hook.signal.aborted ? "aborted" : "threw");
    throw error;
  }
}

function end(process: SimulatedProcess, run: Run, ending: Run["ending"]): void {
  process.surroundings.book.runs.ended(run, ending);
  process.surroundings.world.note(process.name, `handler of ${run.key} (#${run.n}) ${ending}`);
}

async function behave(
  process: SimulatedProcess,
  behaviour: Behaviour,
  { n }: Payload,
  hook: HookContext,
): Promise<void> {
  const { world } = process.surroundings;
  const work = () => world.delay(process.lane, world.random.integer(0, 3000));
  switch (behaviour) {
    case "succeed":
      return;
    case "work":
      return work();
    case "effect":
      return writeEffect(process, n, hook);
    case "chain":
      return process.triggerOnce(`after-${hook.idempotencyKey}`);
    case "throw":
      await work();
      throw new Error("simulated failure");
    case "refuse":
      throw new NonRetryableError("simulated refusal");
    case "hang":
      return hang(hook.signal);
    case "ignore":
      return world.delay(process.lane, IGNORES_ABORT_FOR_MS);
    case "effect-and-kill":
      await writeEffect(process, n, hook);
      process.kill("its handler ends it after the effect");
      return never();
    case "kill":
      process.kill("its handler ends it");
      return never();
  }
}

/** An effect in the database, once for each idempotency key: as users are told to do it. */
async function writeEffect(process: SimulatedProcess, n: number, hook: HookContext): Promise<void> {
  const key = hook.idempotencyKey;
  await process.fragment.unitOfWork(async (uow) => {
    const [known] = await uow.sql`select 1 from handled where key = ${key}`;
    if (known === undefined) await uow.sql`insert into handled (key, n) values (${key}, ${n})`;
  });
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

function never(): Promise<never> {
  return new Promise(() => {});
}
