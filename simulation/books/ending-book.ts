import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import type { InstanceOutcome } from "../../src/store/instances/instance-records.ts";
import { decodeValue } from "../../src/values/index.ts";
import { type Ending, endingHookName } from "../../src/workflows/define/terminal-hooks.ts";
import { ALL_PROGRAM_NAMES, DEFAULT_HOOK_LIMIT, UNTOLD_PROGRAMS } from "../names.ts";
import type { World } from "../world.ts";
import type { HookBook } from "./hook-book.ts";
import type { InstanceAccount } from "./instance-account.ts";
import type { Behaviour, Payload } from "./trigger-record.ts";

/** All possible names of hooks at the end of a run. */
export const ENDING_HOOK_NAMES: readonly string[] = ALL_PROGRAM_NAMES.flatMap((name) =>
  (["completed", "errored", "terminated"] as const).map((ending) => endingHookName(name, ending)),
);

/** What its handler does, one hook after the other. */
const PLANS: readonly (readonly Behaviour[])[] = [
  ["succeed"],
  ["throw", "work"],
  ["effect"],
  ["throw"],
  ["kill", "succeed"],
  ["work"],
];

/** How a run has ended: with an output, with an error, or by an operator. */
export interface RunEnd {
  readonly ending: Ending;
  /** Its output or its error, as it is stored. */
  readonly value: string | null;
}

/** Null if the run goes on. */
export function endOf(outcome: InstanceOutcome): RunEnd | null {
  if (outcome.kind === "completed") return { ending: "completed", value: outcome.output };
  if (outcome.kind === "errored") return { ending: "errored", value: outcome.error };
  return outcome.kind === "terminated" ? { ending: "terminated", value: null } : null;
}

/** The ledger of the hooks at the end of a run: one for each run that has ended, and none for others. */
export class EndingBook {
  /** Whether workflows have hooks for that. */
  tells = false;
  readonly #world: World;
  readonly #hooks: HookBook;
  readonly #ended = new WeakMap<InstanceAccount, Set<number>>();
  /** By hook: what its handler must receive. */
  readonly #events = new Map<string, string>();

  constructor(world: World, hooks: HookBook) {
    this.#world = world;
    this.#hooks = hooks;
  }

  /** A run has ended, by a commit that carried this hook. */
  ended(account: InstanceAccount, { ending, value }: RunEnd, hook: HookInsert | undefined): void {
    const { ref, name, id, run } = account;
    const label = `run ${run} of ${ref}, ${ending}`;
    const runs = this.#ended.get(account) ?? new Set();
    if (runs.has(run)) this.#violate("a run ends once", label);
    this.#ended.set(account, runs.add(run));
    const tells = this.tells && !UNTOLD_PROGRAMS.includes(name);
    if ((hook !== undefined) !== tells) this.#violate("a hook for each run that ends", `${label}: ${hook?.id}`);
    if (hook === undefined) return;
    const event = {
      workflowName: name,
      instanceId: id,
      run,
      ...(ending === "completed" ? { output: toValue(value) } : {}),
      ...(ending === "errored" ? { error: toValue(value) } : {}),
    };
    if (hook.name !== endingHookName(name, ending))
      this.#violate("a hook for each run that ends", `${label}: ${hook.name}`);
    this.#events.set(hook.id, describe(event));
    this.#triggered(hook);
  }

  /** What the handler of this hook does. A violation if the handler receives anything but what has happened. */
  begins(hookId: string, event: unknown): Payload {
    const expected = this.#events.get(hookId);
    if (describe(event) !== expected) {
      this.#violate("hooks are told how a run has ended", `${hookId}: ${describe(event)} instead of ${expected}`);
    }
    const n = this.#hooks.endings.get(hookId) ?? 0;
    return { n, plan: planOf(n) };
  }

  #triggered(hook: HookInsert): void {
    const { triggers, endings } = this.#hooks;
    const n = triggers.size + 1;
    endings.set(hook.id, n);
    triggers.set(n, {
      n,
      process: "database",
      name: hook.name,
      key: null,
      ownId: null,
      via: "trigger",
      processAt: null,
      maxAttempts: DEFAULT_HOOK_LIMIT + 1,
      plan: planOf(n),
      answer: "acknowledged",
      accepted: true,
    });
    this.#hooks.inserted([hook], [{ result: "inserted", id: hook.id, at: this.#world.now }]);
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

function planOf(n: number): readonly Behaviour[] {
  return PLANS[n % PLANS.length] as readonly Behaviour[];
}

function toValue(text: string | null): unknown {
  return text === null ? undefined : decodeValue(text);
}

/** Errors have nothing that JSON would show. */
function describe(event: unknown): string {
  return JSON.stringify(event, (_key, value: unknown) =>
    value instanceof Error ? { name: value.name, message: value.message } : value,
  );
}
