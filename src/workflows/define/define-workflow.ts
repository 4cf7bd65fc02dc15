import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Duration } from "../../duration.ts";
import { InvalidInputError } from "../../errors.ts";
import { checkWorkflowName } from "../../names.ts";
import { checkOptions } from "../../options.ts";
import { type FlowControlOptions, parseFlowControl } from "../../queue/flow-control.ts";
import { isStandardSchema } from "../../schema.ts";
import type { WorkflowBindings } from "../instances/workflow-binding.ts";
import { parseSchedules, type ScheduleOption } from "../schedules/schedule-option.ts";
import { parseRetention, type RetentionOptions } from "./retention.ts";
import { parseTimeout } from "./run-timeout.ts";
import { parseSensitive, type WorkflowSensitivity } from "./sensitivity.ts";
import type { WorkflowStep } from "./step.ts";
import { type OnDivergence, parseOnDivergence, parseStrict } from "./strictness.ts";
import { parseTerminalHooks, TERMINAL_HOOKS, type TerminalHooks } from "./terminal-hooks.ts";
import { parseVersion } from "./version.ts";
import type { EventPayloads, WorkflowEvent } from "./workflow-event.ts";
import type { AnyWorkflowDefinition, WorkflowDefinition, WorkflowFunction } from "./workflow-types.ts";

/** The third argument of a workflow's function. */
export interface WorkflowContext<Env = unknown> {
  /** The workflows of the application. A `create` here is a step: it happens once. */
  readonly workflows: WorkflowBindings;
  readonly env: Env;
}

type EventSchemas = Readonly<Record<string, StandardSchemaV1>>;
/** The events that steps receive. Without declared events, any event can be sent. */
type PayloadsOf<Schemas extends EventSchemas | undefined> = Schemas extends EventSchemas
  ? { readonly [Type in keyof Schemas & string]: StandardSchemaV1.InferOutput<Schemas[Type]> }
  : EventPayloads;

/** The events that `sendEvent` accepts. */
type SentPayloadsOf<Schemas extends EventSchemas | undefined> = Schemas extends EventSchemas
  ? { readonly [Type in keyof Schemas & string]: StandardSchemaV1.InferInput<Schemas[Type]> }
  : EventPayloads;

/** The output type of the schema; without a schema, that of the function. */
type KnownOutput<Output extends StandardSchemaV1 | undefined> = Output extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Output>
  : unknown;

/** The params that `create` accepts, and those that the function receives. Without a schema, its annotation says both. */
type AcceptedParams<Input extends StandardSchemaV1 | undefined, Params> = Input extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Input>
  : Params;
type CheckedParams<Input extends StandardSchemaV1 | undefined, Params> = Input extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Input>
  : Params;

interface WorkflowOptions<Params, Output> extends TerminalHooks<Output> {
  readonly name: string;
  /**
   * A whole number from 1. An instance stays on the version that it was created with; new instances get the newest that is
   * registered: `workflows: { checkout: [checkoutV2, checkoutV1] }`. Default: none, which is older than every version.
   */
  readonly version?: number;
  /** When instances are created by schedules: cron expressions in UTC, or `{ cron, timezone, params, name }`. */
  readonly schedules?: readonly ScheduleOption<Params>[];
  /** How long finished instances are kept, unless `create` gives another time. Default: forever. */
  readonly retention?: RetentionOptions;
  /**
   * How long a run may take, from `create` or `restart` on, unless `create` gives another time. When it is over, the instance
   * is rolled back and ends as errored, with the code `workflow.timeout`. Default: forever.
   */
  readonly timeout?: Duration;
  /** What to do with an instance whose history the code doesn't match. Default: "warn". */
  readonly onDivergence?: OnDivergence;
  /**
   * Whether an instance fails if its function ends without waiting for all of its steps. Otherwise that is logged. Default:
   * false.
   */
  readonly strict?: boolean;
  /** `"params"` shows `"[REDACTED]"` to people in place of the params of new instances. Default: none. */
  readonly sensitive?: WorkflowSensitivity;
}

/**
 * Defines a workflow. Schemas, of any library that supports Standard Schema, check values on their way in and out: params at
 * `create`, events at `sendEvent`, the output at the end.
 *
 * @example
 * const checkout = defineWorkflow({ name: "checkout", input: Order }, async (event, step) => {
 *   const charge = await step.do("charge", (ctx) => pay(event.payload, ctx.idempotencyKey));
 *   await step.sleep("cool down", "10 minutes");
 *   return { charge };
 * });
 */
export function defineWorkflow<
  Params = undefined,
  Events extends EventSchemas | undefined = undefined,
  Output extends StandardSchemaV1 | undefined = undefined,
  Result = unknown,
  Input extends StandardSchemaV1 | undefined = undefined,
>(
  options: WorkflowOptions<AcceptedParams<Input, unknown>, KnownOutput<Output>> &
    FlowControlOptions<CheckedParams<Input, Params>> & {
      readonly input?: Input;
      readonly output?: Output;
      readonly events?: Events;
    },
  run: (
    event: Input extends StandardSchemaV1 ? WorkflowEvent<StandardSchemaV1.InferOutput<Input>> : WorkflowEvent<Params>,
    step: WorkflowStep<PayloadsOf<Events>>,
    context: WorkflowContext,
  ) => Promise<Output extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Output> : Result>,
): WorkflowDefinition<
  AcceptedParams<Input, NoInfer<Params>>,
  Output extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Output> : Result,
  SentPayloadsOf<Events>
>;
export function defineWorkflow(options: unknown, run?: unknown): AnyWorkflowDefinition {
  if (typeof options !== "object" || options === null || typeof run !== "function") {
    throw invalid("defineWorkflow takes options and a function: defineWorkflow({ name }, async (event, step) => …)");
  }
  checkOptions(options, {
    label: "A workflow",
    fields: [
      "name",
      "version",
      "input",
      "output",
      "events",
      "schedules",
      "concurrency",
      "rateLimit",
      "retention",
      "timeout",
      "onDivergence",
      "strict",
      "sensitive",
      ...TERMINAL_HOOKS,
    ],
    code: "workflow.invalid",
  });
  const {
    name,
    version,
    input: given,
    output,
    events,
    schedules,
    concurrency,
    rateLimit,
    retention,
    timeout,
    onDivergence,
    strict,
    sensitive,
  } = options as Record<string, unknown>;
  const input = checkSchema(given, "input");
  return {
    kind: "workflow",
    name: checkWorkflowName(name),
    version: parseVersion(version),
    input,
    output: checkSchema(output, "output"),
    events: checkEvents(events),
    schedules: parseSchedules(schedules, input),
    flow: parseFlowControl(concurrency, rateLimit),
    endingHooks: parseTerminalHooks(options as Record<string, unknown>),
    retention: parseRetention(retention, "workflow.invalid"),
    timeout: parseTimeout(timeout, "workflow.invalid"),
    onDivergence: parseOnDivergence(onDivergence),
    strict: parseStrict(strict),
    sensitive: parseSensitive(sensitive),
    run: run as WorkflowFunction,
  };
}

export function isWorkflowDefinition(value: unknown): value is AnyWorkflowDefinition {
  return typeof value === "object" && value !== null && Reflect.get(value, "kind") === "workflow";
}

function checkSchema(value: unknown, label: string): StandardSchemaV1 | null {
  if (value === undefined) return null;
  if (isStandardSchema(value)) return value;
  throw invalid(`A workflow's ${label} must be a Standard Schema (zod, valibot, arktype and others make them)`);
}

function checkEvents(events: unknown): ReadonlyMap<string, StandardSchemaV1> | null {
  if (events === undefined) return null;
  if (Object.prototype.toString.call(events) !== "[object Object]") {
    throw invalid("A workflow's events must be an object: { type: schema }");
  }
  return new Map(
    Object.entries(events as object).map(([type, schema]) => [
      type,
      checkSchema(schema, `event "${type}"`) as StandardSchemaV1,
    ]),
  );
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("workflow.invalid", `${problem}.`);
}
