import { NonRetryableError } from "../../src/errors.ts";
import { defineHook, type HookDefinition } from "../../src/hooks/define-hook.ts";
import type { HookContext } from "../../src/hooks/hook-context.ts";
import type { Run } from "../books/run-book.ts";
import type { Behaviour, HookBehaviour, Payload } from "../books/trigger-record.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { DEFAULT_HOOK_LIMIT, type HookName } from "../names.ts";
import { behave, never } from "./behave.ts";
import { transact } from "./hook-transactions.ts";

export type SimulatedHooks = Readonly<Record<HookName, HookDefinition<Payload, Payload>>>;

/** The hooks of one process. Their handlers do what the payload says, and write everything into the ledger. */
export function createHooks(process: () => SimulatedProcess): SimulatedHooks {
  const hook = () =>
    defineHook({ retries: { limit: DEFAULT_HOOK_LIMIT, delay: 1000 } }, (payload: Payload, context: HookContext) =>
      handle(process(), payload, context),
    );
  return { work: hook(), other: hook() };
}

/** Does what the payload says, and writes it into the ledger. */
export async function handle(process: SimulatedProcess, payload: Payload, hook: HookContext): Promise<void> {
  if (process.lane.closed) return never(); // what is left of this turn when another handler has ended the process
  const { world, book } = process.surroundings;
  const behaviour = payload.plan[Math.min(hook.attempts, payload.plan.length) - 1] as HookBehaviour;
  const run = book.runs.started(process.name, payload, hook);
  world.note(process.name, `handler of ${run.key} (#${run.n}) starts, attempt ${hook.attempts}: ${behaviour}`);
  for (const earlier of book.runs.besides(run)) process.surroundings.watchOverlap(earlier, run);
  try {
    if (!(await transact(process, behaviour, hook, run))) await behave(process, behaviour as Behaviour, hook);
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
