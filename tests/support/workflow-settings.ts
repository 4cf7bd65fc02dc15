import type { ProgramName } from "./workflow-programs.ts";

/** What a process that runs workflows is told at its start. */
export interface WorkflowProcessSettings {
  /** A path or a URL. */
  readonly database: string;
  /** Where the process writes down what the bodies of its steps do. */
  readonly ledger: string;
  /** `false`: it only creates, and waits for results. */
  readonly worker?:
    | false
    | { readonly concurrency?: number; readonly leaseMs?: number; readonly pollIntervalMs?: number };
  /** Write down the statements that it sends, so that it can be asked for them. */
  readonly countStatements?: boolean;
}

export type WorkflowRequest =
  /** Lets bodies that are held end. */
  | { readonly do: "open" }
  | { readonly do: "create"; readonly program: ProgramName; readonly ids: readonly string[]; readonly params: unknown }
  | { readonly do: "result"; readonly program: ProgramName; readonly id: string; readonly timeoutMs: number }
  | { readonly do: "event"; readonly program: ProgramName; readonly id: string; readonly payload: unknown }
  /** Returns the statements that it has sent since it was asked last. */
  | { readonly do: "statements" }
  | { readonly do: "stop" };

export type WorkflowMessage =
  | { readonly say: "ready" }
  | { readonly say: "done"; readonly request: number; readonly value: unknown }
  | { readonly say: "failed"; readonly request: number; readonly problem: string };
