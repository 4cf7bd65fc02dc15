import { ConflictError, InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { applySchema } from "../schema.ts";
import type { InstanceInsert } from "../store/instance-records.ts";
import { encodeValue } from "../values/index.ts";
import type { CreateOptions } from "./create-options.ts";
import { checkId } from "./names.ts";
import type { RegisteredWorkflow } from "./registered-workflows.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

export interface PreparedInstance {
  readonly insert: InstanceInsert;
  readonly onConflict: "error" | "return";
}

/** Checks what `create` was given, and gives what to store. */
export async function prepareInstance(
  runtime: WorkflowRuntime,
  { name, definition }: RegisteredWorkflow,
  options: CreateOptions<unknown> = {},
  parent: string | null = null,
): Promise<PreparedInstance> {
  checkOptions(options, { label: "create", fields: ["id", "params", "onConflict"], code: "create.invalid" });
  const { onConflict = "error" } = options;
  if (onConflict !== "error" && onConflict !== "return") {
    throw new InvalidInputError("create.invalid", 'onConflict must be "error" or "return".');
  }
  const ref = runtime.store.createId();
  const id = options.id === undefined ? ref : checkId(options.id, "The id of an instance");
  const { maxValueBytes } = runtime.workflows.settings;
  const params = await applySchema(
    definition?.input ?? null,
    options.params,
    `The params of "${name}"`,
    "params.invalid",
  );
  const encoded = encodeValue(params, { label: "params", maxBytes: maxValueBytes });
  return {
    insert: { namespace: runtime.namespace, name, id, ref, params: encoded, parent, traits: null, lease: null },
    onConflict,
  };
}

export function alreadyExists(workflow: string, id: string): ConflictError {
  return new ConflictError(
    "instance.already_exists",
    `The workflow "${workflow}" has an instance "${id}" already. Give onConflict: "return" to get that one.`,
  );
}
