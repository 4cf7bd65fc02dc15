import { ConflictError, InvalidInputError } from "../../../errors.ts";
import { checkInstanceId } from "../../../names.ts";
import { checkOptions } from "../../../options.ts";
import { flowKeys } from "../../../queue/flow-control.ts";
import { applySchema, isThenable } from "../../../schema.ts";
import type { Awaitable } from "../../../store/foreign-transaction.ts";
import {
  type InstanceInsert,
  type InstanceTraits,
  NO_TRAITS,
  PARENT_LABEL,
} from "../../../store/instances/instance-records.ts";
import { HIGHEST_PRIORITY, LOWEST_PRIORITY } from "../../../store/queue/rank.ts";
import type { Receipt } from "../../../store/request-statements.ts";
import { encodeValue, markSensitive } from "../../../values/index.ts";
import { parseLabels } from "../../define/labels.ts";
import type { RegisteredWorkflow } from "../../define/registered-workflows.ts";
import { parseRetention } from "../../define/retention.ts";
import { parseTimeout } from "../../define/run-timeout.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import type { CreateOptions } from "./create-options.ts";

const TRAITS = Object.keys(NO_TRAITS) as (keyof InstanceTraits)[];

type GivenTraits = Pick<InstanceTraits, "labels" | "successRetention" | "errorRetention" | "timeout">;

/** Labels, retention and timeout: those given to `create`, or else those of the workflow. */
function parseTraits(
  workflow: RegisteredWorkflow,
  options: CreateOptions<unknown>,
  endsWith: string | undefined,
): GivenTraits {
  const labels = parseLabels(options.labels, "create.invalid");
  if (endsWith !== undefined) labels.push([PARENT_LABEL, endsWith]);
  return {
    ...parseRetention(options.retention, "create.invalid", workflow.retention),
    timeout: parseTimeout(options.timeout, "create.invalid", workflow.timeout),
    labels: labels.length === 0 ? null : JSON.stringify(Object.fromEntries(labels)),
  };
}

/** Null if all traits have their defaults: such instances are inserted with a smaller statement. */
function toTraits(given: Partial<InstanceTraits>): InstanceTraits | null {
  const plain = TRAITS.every((name) => given[name] === undefined || given[name] === NO_TRAITS[name]);
  return plain ? null : { ...NO_TRAITS, ...given };
}

const CREATE_FIELDS = ["id", "params", "onConflict", "priority", "retention", "timeout", "labels", "locationHint"];

const CREATE_OR_SEND_FIELDS = [...CREATE_FIELDS.filter((field) => field !== "onConflict"), "event"];

/** The two halves of a `createOrSend`. */
export function splitCreateOrSend<Event>(
  options: CreateOptions<unknown> & { readonly id: string; readonly event: Event },
): { readonly event: Event; readonly create: CreateOptions<unknown> & { readonly id: string } } {
  checkOptions(options, { label: "createOrSend", fields: CREATE_OR_SEND_FIELDS, code: "create.invalid" });
  const { event, ...create } = options;
  if (create.id === undefined) throw new InvalidInputError("create.invalid", "createOrSend needs an id.");
  return { event, create };
}

export interface PreparedInstance {
  readonly insert: InstanceInsert;
  readonly onConflict: "error" | "return";
}

/** What an instance that a step or a request creates is recognised by. */
export interface InstanceOrigin {
  readonly parent?: string | null;
  readonly ref?: string;
  readonly receipt?: Receipt | undefined;
  /** The ref of the parent with which it ends. */
  readonly endsWith?: string | undefined;
}

/** Checks the options of `create` and makes the row to insert. */
export async function prepareInstance(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options?: CreateOptions<unknown>,
  origin?: InstanceOrigin,
): Promise<PreparedInstance> {
  return prepareAtOnce(runtime, workflow, options, origin);
}

/** The same at once; a promise only if the workflow's schema is asynchronous. */
export function prepareAtOnce(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options: CreateOptions<unknown> = {},
  { parent = null, ref = runtime.store.createId(), receipt, endsWith }: InstanceOrigin = {},
): Awaitable<PreparedInstance> {
  const { name, version, definition, flow, sensitive } = workflow;
  checkOptions(options, { label: "create", fields: CREATE_FIELDS, code: "create.invalid" });
  const { onConflict = "error", priority = 0 } = options;
  if (onConflict !== "error" && onConflict !== "return") {
    throw new InvalidInputError("create.invalid", 'onConflict must be "error" or "return".');
  }
  checkPriority(priority);
  const given = parseTraits(workflow, options, endsWith);
  const id = options.id === undefined ? ref : checkInstanceId(options.id, runtime.workflows.settings);
  const { maxParamsBytes } = runtime.workflows.settings;
  const { namespace } = runtime;
  const schema = definition?.input ?? null;
  const toPrepared = (params: unknown): PreparedInstance => {
    const text = encodeValue(params, { label: "params", maxBytes: maxParamsBytes });
    const encoded = sensitive ? markSensitive(text) : text;
    const keys = flow === null ? null : flowKeys(flow, { namespace, name }, params);
    const trace = runtime.telemetry?.creates({ namespace, name }) ?? null;
    const traits = toTraits({ ...given, ...keys, priority, trace });
    const kept = receipt && { receipt };
    const insert = { namespace, name, id, version, ref, params: encoded, parent, traits, lease: null, ...kept };
    return { insert, onConflict };
  };
  const params = applySchema(schema, options.params, `The params of "${name}"`, "params.invalid");
  return schema !== null && isThenable(params) ? params.then(toPrepared) : toPrepared(params);
}

function checkPriority(value: unknown): void {
  if (typeof value === "number" && Number.isInteger(value) && value >= LOWEST_PRIORITY && value <= HIGHEST_PRIORITY)
    return;
  const accepted = `a whole number from ${LOWEST_PRIORITY} to ${HIGHEST_PRIORITY}`;
  throw new InvalidInputError("create.invalid", `priority must be ${accepted}; higher ones start first.`);
}

export function alreadyExists(workflow: string, id: string): ConflictError {
  return new ConflictError(
    "instance.already_exists",
    `The workflow "${workflow}" has an instance "${id}" already. Give onConflict: "return" to get that one.`,
  );
}

/** An instance as `create` leaves it. */
export interface CreatedInstance {
  readonly insert: InstanceInsert;
  /**
   * `new`: this call created it. `repeated`: the same parent created it in an earlier call. `existing`: another caller created it,
   * and `onConflict` is "return".
   */
  readonly outcome: "new" | "repeated" | "existing";
}

/**
 * Creates one instance: for a binding, for a step, and for a request that its sender may repeat. `parent` names the step or the
 * request, so that a repeated call finds the instance that the first call created.
 */
export async function createInstance(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options?: CreateOptions<unknown>,
  origin?: InstanceOrigin,
): Promise<CreatedInstance> {
  const prepared = prepareAtOnce(runtime, workflow, options, origin);
  const { insert, onConflict } = isThenable(prepared) ? await prepared : prepared;
  const [result] = await runtime.create([insert]);
  if (result?.result === "existing") {
    if (onConflict === "error") throw alreadyExists(workflow.name, insert.id);
    return { insert, outcome: "existing" };
  }
  return { insert, outcome: result?.ref === insert.ref ? "new" : "repeated" };
}
