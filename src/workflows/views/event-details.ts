import type { ErrorDescription } from "../../values/index.ts";

/** Names a step. `count` is 1 for the first call of this name, 2 for the second, and so on. */
interface StepDetails {
  readonly stepName: string;
  readonly count: number;
}

interface AttemptDetails extends StepDetails {
  readonly attempt: number;
}

type WorkflowDetails =
  | { readonly type: "workflow_queued" }
  | { readonly type: "workflow_started"; readonly params?: unknown }
  | { readonly type: "workflow_running" }
  | { readonly type: "workflow_paused" }
  | { readonly type: "workflow_waiting_for_pause" }
  | { readonly type: "workflow_waiting" }
  | { readonly type: "workflow_completed"; readonly output?: unknown }
  | { readonly type: "workflow_errored"; readonly error: ErrorDescription }
  | { readonly type: "workflow_terminated" };

type BodyDetails =
  | ({ readonly type: "step_started" } & StepDetails)
  | ({ readonly type: "step_completed"; readonly output?: unknown } & StepDetails)
  | ({ readonly type: "step_errored" } & StepDetails)
  | ({ readonly type: "attempt_started" } & AttemptDetails)
  | ({ readonly type: "attempt_completed" } & AttemptDetails)
  | ({
      readonly type: "attempt_errored";
      readonly retryDelayMs?: number;
      readonly error: ErrorDescription;
    } & AttemptDetails);

type ProgressDetails = { readonly type: "step_progress"; readonly value: unknown } & AttemptDetails;

type WaitDetails =
  | ({ readonly type: "sleep_started"; readonly durationMs: number } & StepDetails)
  | ({ readonly type: "sleep_completed" } & StepDetails)
  | ({ readonly type: "wait_started"; readonly eventType: string } & StepDetails)
  | ({ readonly type: "wait_completed" } & StepDetails)
  | ({ readonly type: "wait_timed_out" } & StepDetails);

type RollbackDetails =
  | { readonly type: "rollback_started" | "rollback_completed" | "rollback_errored" }
  | ({ readonly type: "rollback_step_started" | "rollback_step_completed" } & StepDetails)
  | ({ readonly type: "rollback_step_errored"; readonly error: ErrorDescription } & StepDetails)
  | ({ readonly type: "rollback_attempt_started" | "rollback_attempt_completed" } & AttemptDetails)
  | ({
      readonly type: "rollback_attempt_errored";
      readonly retryDelayMs?: number;
      readonly error: ErrorDescription;
    } & AttemptDetails);

/** What an event tells, by its type. */
export type EventDetails = WorkflowDetails | BodyDetails | ProgressDetails | WaitDetails | RollbackDetails;
