import { type Application, defineHook, type HookDefinition } from "../../src/index.ts";

/** What a worker process is told at its start. */
export interface WorkerSettings {
  /** A path or a URL. */
  readonly database: string;
  /** Where the process writes down what its handlers do. */
  readonly runLog: string;
  /** Use a pool that the process has made itself, and ends itself. */
  readonly ownPool?: boolean;
  /** `false`: it only triggers. */
  readonly worker?:
    | false
    | { readonly concurrency?: number; readonly leaseMs?: number; readonly pollIntervalMs?: number };
  /** How long it waits for its handlers after SIGTERM. */
  readonly deadlineMs?: number;
  readonly keepCompleted?: boolean;
  /** It opens its database when this file is there, so that many can do so at the same moment. */
  readonly startFile?: string;
}

export type WorkerRequest =
  | { readonly do: "trigger"; readonly hook: HookName; readonly count: number; readonly inTurn?: boolean }
  | { readonly do: "open"; readonly hook?: "hold" | "holdDeaf" }
  | { readonly do: "wake" }
  | { readonly do: "stop" };

export type WorkerMessage =
  | { readonly say: "loaded" }
  | { readonly say: "ready" }
  | { readonly say: "stopping" }
  | { readonly say: "done"; readonly request: number; readonly ids: readonly string[] }
  | { readonly say: "failed"; readonly request: number; readonly problem: string };

/**
 * - `note` writes down that it ran.
 * - `hold` ends when it is told to (`open`), and at once when its signal is aborted.
 * - `holdDeaf` does the same, but doesn't listen to its signal.
 * - `block` keeps the whole process busy, timers included, until the file of its payload is there.
 * - `poison` kills its process.
 * - `refuse` fails for good.
 */
export type HookName = "note" | "hold" | "holdDeaf" | "block" | "poison" | "refuse";

export type WorkerHooks = Readonly<Record<HookName, HookDefinition<string, string>>>;
export type WorkerApplication = Application<WorkerHooks>;

/** The hooks of the worker processes, for processes that trigger them. */
export const TRIGGERED_HOOKS: WorkerHooks = {
  note: refuse(),
  hold: refuse(),
  holdDeaf: refuse(),
  block: refuse(),
  poison: refuse(),
  refuse: refuse(),
};

function refuse(): HookDefinition<string, string> {
  return defineHook((_payload: string) => {
    throw new Error("This process only triggers.");
  });
}
