import { ConflictError, InvalidInputError } from "../../errors.ts";
import { checkInstanceId } from "../../names.ts";
import { checkOptions } from "../../options.ts";
import { applySchema } from "../../schema.ts";
import type { InstanceInsert } from "../../store/instances/instance-records.ts";
import { HIGHEST_PRIORITY, LOWEST_PRIORITY } from "../../store/queue/rank.ts";
import { encodeValue } from "../../values/index.ts";
import { flowKeys } from "../define/flow-control.ts";
import { parseTraits, toTraits } from "../define/instance-traits.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { CreateOptions } from "./create-options.ts";

const CREATE_FIELDS = ["id", "params", "onConflict", "priority", "retention", "labels", "locationHint"];

export interface PreparedInstance {
  readonly insert: InstanceInsert;
  readonly onConflict: "error" | "return";
}

/** Checks what `create` was given, and gives what to store. */
export async function prepareInstance(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options: CreateOptions<unknown> = {},
  { parent = null, ref = runtime.store.createId() }: { readonly parent?: string | null; readonly ref?: string } = {},
): Promise<PreparedInstance> {
  const { name, definition, flow } = workflow;
  checkOptions(options, { label: "create", fields: CREATE_FIELDS, code: "create.invalid" });
  const { onConflict = "error", priority = 0 } = options;
  if (onConflict !== "error" && onConflict !== "return") {
    throw new InvalidInputError("create.invalid", 'onConflict must be "error" or "return".');
  }
  checkPriority(priority);
  const given = parseTraits(workflow, options);
  const id = options.id === undefined ? ref : checkInstanceId(options.id, runtime.workflows.settings);
  const { maxParamsBytes } = runtime.workflows.settings;
  const params = await applySchema(
    definition?.input ?? null,
    options.params,
    `The params of "${name}"`,
    "params.invalid",
  );
  const encoded = encodeValue(params, { label: "params", maxBytes: maxParamsBytes });
  const { namespace } = runtime;
  const keys = flow === null ? null : flowKeys(flow, { namespace, name }, params);
  const traits = toTraits({ ...given, ...keys, priority });
  return {
    insert: { namespace, name, id, ref, params: encoded, parent, traits, lease: null },
    onConflict,
  };
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
