import { InvalidInputError } from "../../errors.ts";
import { type AnyHookDefinition, defineHook, type HookDefinition, isHookDefinition } from "../../hooks/define-hook.ts";
import type { HookContext } from "../../hooks/hook-context.ts";
import type { HookInsert } from "../../store/hooks/hook-records.ts";

/** A run that has ended. */
export interface TerminatedEvent {
  readonly workflowName: string;
  readonly instanceId: string;
  /** Counted from 1; a restart begins the next. */
  readonly run: number;
}

export interface CompletedEvent<Output = unknown> extends TerminatedEvent {
  readonly output: Output;
}

export interface ErroredEvent extends TerminatedEvent {
  /** The error that the workflow threw. */
  readonly error: unknown;
}

/** A handler, or a handler with options: `defineHook({ retries }, handler)`. */
export type TerminalHandler<Event> = ((event: Event, hook: HookContext) => unknown) | HookDefinition<Event, Event>;

/**
 * Durable hooks for the end of a run. They are triggered in the transaction that writes the outcome, so each runs once for each
 * run that ends that way, with attempts and dead letters like any other hook.
 */
export interface TerminalHooks<Output = unknown> {
  readonly onCompleted?: TerminalHandler<CompletedEvent<Output>>;
  readonly onErrored?: TerminalHandler<ErroredEvent>;
  readonly onTerminated?: TerminalHandler<TerminatedEvent>;
}

export type Ending = "completed" | "errored" | "terminated";
/** The hooks of a workflow, by how a run ends. */
export type EndingHooks = Readonly<Partial<Record<Ending, AnyHookDefinition>>>;

const OPTIONS = { onCompleted: "completed", onErrored: "errored", onTerminated: "terminated" } as const;
export const TERMINAL_HOOKS: readonly string[] = Object.keys(OPTIONS);

/** Checks the ending hooks of a workflow. */
export function parseTerminalHooks(options: Readonly<Record<string, unknown>>): EndingHooks {
  const hooks = Object.entries(OPTIONS).flatMap(([option, ending]) => {
    const given = options[option];
    return given === undefined ? [] : [[ending, toDefinition(given, option)]];
  });
  return Object.fromEntries(hooks) as EndingHooks;
}

/** A prefix that no hook of an application can have. */
export function endingHookName(workflow: string, ending: Ending): string {
  return `$${workflow}.${ending}`;
}

export function isEndingHook(name: string): boolean {
  return name.startsWith("$");
}

export interface EndedRun {
  readonly namespace: string;
  readonly name: string;
  readonly id: string;
  readonly run: number;
}

/** The trigger of an ending hook; `value` is its additional field: the name, and the stored text. */
export function endingTrigger(
  { namespace, name, id, run }: EndedRun,
  ending: Ending,
  value: readonly [string, string] | null,
  createId: () => string,
): HookInsert {
  const plain = JSON.stringify({ workflowName: name, instanceId: id, run });
  return {
    namespace,
    id: createId(),
    name: endingHookName(name, ending),
    key: null,
    ownId: false,
    triggers: 1,
    triggeredAt: null,
    payload: value === null ? plain : `${plain.slice(0, -1)},${JSON.stringify(value[0])}:${value[1]}}`,
    retries: null,
    trace: null,
    processAt: null,
    debounce: null,
    lease: null,
  };
}

function toDefinition(given: unknown, option: string): AnyHookDefinition {
  if (isHookDefinition(given) && given.flow !== null) {
    throw new InvalidInputError(
      "workflow.invalid",
      `${option} can't have limits: let it trigger a hook of the application that has them.`,
    );
  }
  if (isHookDefinition(given) && given.schema === null) return given;
  if (typeof given === "function") return defineHook({}, given as (event: unknown, hook: HookContext) => unknown);
  throw new InvalidInputError(
    "workflow.invalid",
    `${option} must be a function, (event, hook) => …, or made by defineHook without an input.`,
  );
}
