import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Duration } from "../../duration.ts";
import type { FlowControl, FlowControlOptions } from "../../queue/flow-control.ts";
import type { ScheduleOption, WorkflowSchedule } from "../schedules/schedule-option.ts";
import type { Retention, RetentionOptions } from "./retention.ts";
import type { WorkflowSensitivity } from "./sensitivity.ts";
import type { OnDivergence } from "./strictness.ts";
import type { EndingHooks, TerminalHooks } from "./terminal-hooks.ts";
import type { EventPayloads, WorkflowEvent } from "./workflow-event.ts";

export type WorkflowFunction = (event: never, step: never, context: never) => unknown;

/** A workflow: a function whose steps are durable. */
export interface WorkflowDefinition<Params, Output, Events extends EventPayloads> {
  readonly kind: "workflow";
  readonly name: string;
  /** 0 without. */
  readonly version: number;
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
  /** In milliseconds; null is forever. @internal */
  readonly timeout: number | null;
  readonly onDivergence: OnDivergence;
  readonly strict: boolean;
  /** Whether people don't see its params. */
  readonly sensitive: boolean;
  readonly run: WorkflowFunction;
  /** Never set: it only carries types. */
  readonly types?: { readonly params: (params: Params) => void; readonly output: Output; readonly events: Events };
}

// biome-ignore lint/suspicious/noExplicitAny: the widest definition that there is; its types are never looked into
export type AnyWorkflowDefinition = WorkflowDefinition<any, unknown, any>;

/** A workflow as an application registers it: made by `defineWorkflow`, a class, or either of them under another name. */
export type AnyWorkflow = AnyWorkflowDefinition | WorkflowEntrypointClass | NamedWorkflow;

/** A workflow under another name. Schedules, limits and hooks that are given here replace those of the definition. */
export interface NamedWorkflow extends AnyFlowControlOptions, TerminalHooks {
  readonly name: string;
  readonly workflow: WorkflowEntrypointClass | AnyWorkflowDefinition;
  /** Default: as in the definition. A class has none. */
  readonly version?: number;
  readonly schedules?: readonly ScheduleOption[];
  /** How long finished instances are kept, unless `create` gives another time. Default: as in the definition. */
  readonly retention?: RetentionOptions;
  /** How long a run may take, unless `create` gives another time. Default: as in the definition. */
  readonly timeout?: Duration;
  readonly onDivergence?: OnDivergence;
  readonly strict?: boolean;
  readonly sensitive?: WorkflowSensitivity;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the workflow takes; a registry knows it only by its class
type AnyFlowControlOptions = FlowControlOptions<any>;

/** The versions of one workflow, the newest first. All have the same name. */
export type WorkflowVersions = readonly [newest: AnyWorkflow, ...older: AnyWorkflow[]];

export type Workflows = Readonly<Record<string, AnyWorkflow | WorkflowVersions>>;

/** The params that `create` accepts. */
export type ParamsOf<Workflow> =
  Workflow extends WorkflowDefinition<infer Params, unknown, EventPayloads>
    ? Params
    : Workflow extends { readonly workflow: infer Inner } | readonly [infer Inner, ...unknown[]]
      ? ParamsOf<Inner>
      : Workflow extends new (
            ...parameters: never[]
          ) => { run(event: infer Event, step: never): unknown }
        ? Event extends WorkflowEvent<infer Params>
          ? Params
          : unknown
        : unknown;

/** The output that `result()` returns. */
export type WorkflowOutput<Workflow> =
  Workflow extends WorkflowDefinition<never, infer Output, EventPayloads>
    ? Output
    : Workflow extends { readonly workflow: infer Inner } | readonly [infer Inner, ...unknown[]]
      ? WorkflowOutput<Inner>
      : Workflow extends new (
            ...parameters: never[]
          ) => { run(event: never, step: never): infer Result }
        ? Awaited<Result>
        : unknown;

/** The events that `sendEvent` accepts, by type. */
export type WorkflowEvents<Workflow> =
  Workflow extends WorkflowDefinition<never, unknown, infer Events>
    ? Events
    : Workflow extends { readonly workflow: infer Inner } | readonly [infer Inner, ...unknown[]]
      ? WorkflowEvents<Inner>
      : EventPayloads;

// biome-ignore lint/suspicious/noExplicitAny: any class of the kind will do; what it takes is seen by its `run`
export type WorkflowEntrypointClass = new (ctx: any, env: any) => { run(event: never, step: never): Promise<unknown> };
