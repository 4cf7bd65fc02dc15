import { instanceNotFound } from "../../errors.ts";
import { checkInstanceId } from "../../names.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { WorkflowInstance } from "./instance.ts";
import { InstanceHandle, type ResultCaller } from "./instance-handle.ts";

/** An instance that exists. Throws `instance.not_found` otherwise. */
export async function findInstance(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  id: string,
  caller: { readonly ref: string; readonly step: ResultCaller } | null,
): Promise<WorkflowInstance> {
  const name = {
    namespace: runtime.namespace,
    name: workflow.name,
    id: checkInstanceId(id, runtime.workflows.settings),
  };
  const [record] = await runtime.store.instances.statements.find([name]);
  if (record === null || record === undefined) throw instanceNotFound(workflow.name, id);
  return new InstanceHandle(runtime, workflow, id, { callerRef: caller?.ref ?? null, caller: caller?.step ?? null });
}
