import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ScheduleOption, WorkflowSchedule } from "../schedules/schedule-option.ts";
import type { FlowControl, FlowControlOptions } from "./flow-control.ts";
import type { Retention, RetentionOptions } from "./retention.ts";
import type { EndingHooks, TerminalHooks } from "./terminal-hooks.ts";
import type { EventPayloads, WorkflowEvent } from "./workflow-event.ts";

export type WorkflowFunction = (event: never, step: never, context: never) => unknown;

/** A function whose steps are remembered. */
export interface WorkflowDefinition<Params, Output, Events extends EventPayloads> {
  readonly kind: "workflow";
  readonly name: string;
  readonly input: StandardSchemaV1 | null;
  readonly output: StandardSchemaV1 | null;
  readonly events: ReadonlyMap<string, StandardSchemaV1> | null;
  /** @internal */
  readonly schedules: readonly WorkflowSchedule[];
  /** @internal */
  readonly flow: FlowControl | null;
  /** @internal */
  readonly endingHooks: EndingHooks;
  /** @internal */
  readonly retention: Retention;
  readonly run: WorkflowFunction;
  /** Never there: they carry types. */
  readonly types?: { readonly params: (params: Params) => void; readonly output: Output; readonly events: Events };
}

// biome-ignore lint/suspicious/noExplicitAny: the widest definition that there is; its types are never looked into
export type AnyWorkflowDefinition = WorkflowDefinition<any, unknown, any>;

/** A workflow as an application registers it: made by `defineWorkflow`, a class, or a class under a name. */
export type AnyWorkflow = AnyWorkflowDefinition | WorkflowEntrypointClass | NamedWorkflow;

/** Schedules, limits and hooks that are given here take the place of those of the definition. */
export interface NamedWorkflow extends AnyFlowControlOptions, TerminalHooks {
  readonly name: string;
  readonly workflow: WorkflowEntrypointClass | AnyWorkflowDefinition;
  readonly schedules?: readonly ScheduleOption[];
  /** How long finished instances are kept, unless `create` says otherwise. Default: as the definition says. */
  readonly retention?: RetentionOptions;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the workflow takes; a registry knows it only by its class
type AnyFlowControlOptions = FlowControlOptions<any>;

export type Workflows = Readonly<Record<string, AnyWorkflow>>;

/** What `create` takes for `params`. */
export type ParamsOf<Workflow> =
  Workflow extends WorkflowDefinition<infer Params, unknown, EventPayloads>
    ? Params
    : Workflow extends { readonly workflow: infer Inner }
      ? ParamsOf<Inner>
      : Workflow extends new (
            ...parameters: never[]
          ) => { run(event: infer Event, step: never): unknown }
        ? Event extends WorkflowEvent<infer Params>
          ? Params
          : unknown
        : unknown;

/** What `result()` gives. */
export type WorkflowOutput<Workflow> =
  Workflow extends WorkflowDefinition<never, infer Output, EventPayloads>
    ? Output
    : Workflow extends { readonly workflow: infer Inner }
      ? WorkflowOutput<Inner>
      : Workflow extends new (
            ...parameters: never[]
          ) => { run(event: never, step: never): infer Result }
        ? Awaited<Result>
        : unknown;

/** What `sendEvent` takes, by type. */
export type WorkflowEvents<Workflow> =
  Workflow extends WorkflowDefinition<never, unknown, infer Events>
    ? Events
    : Workflow extends { readonly workflow: infer Inner }
      ? WorkflowEvents<Inner>
      : EventPayloads;

// biome-ignore lint/suspicious/noExplicitAny: any class of the kind will do; what it takes is seen by its `run`
export type WorkflowEntrypointClass = new (ctx: any, env: any) => { run(event: never, step: never): Promise<unknown> };
