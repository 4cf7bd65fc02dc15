import type { InstanceRun } from "../../../store/instances/instance-records.ts";
import type { Receipt } from "../../../store/request-statements.ts";
import type { RegisteredWorkflow } from "../../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import { refuseLost } from "../foreign-bindings.ts";
import { InstanceHandle } from "../instance-handle.ts";
import { prepareEvent } from "../prepare-event.ts";
import { prepareInstance, splitCreateOrSend } from "./create.ts";
import type { CreatedOrSent, CreateOrSendOptions } from "./create-options.ts";

/**
 * For a caller that may not see every instance: the run to act on, or null if there is no instance with the id. Throws if the
 * caller may not see the one that has it.
 */
export type FindOwn = () => Promise<InstanceRun | null>;

/**
 * The event goes to the instance that has the id, or else the instance is created with it: each is one statement, and both have
 * the same event id. `receiptOf` returns receipts with the same key and the outcome as their note, so a repeated call returns
 * the first outcome.
 */
export async function createOrSend(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options: CreateOrSendOptions<unknown, string, unknown>,
  receiptOf?: (outcome: CreatedOrSent["outcome"]) => Receipt,
  findOwn?: FindOwn,
): Promise<CreatedOrSent> {
  const { event, create } = splitCreateOrSend(options);
  const { insert } = await prepareInstance(runtime, workflow, create, { receipt: receiptOf?.("created") });
  const { namespace, name, id } = insert;
  const receipt = receiptOf?.("sent");
  const target = { namespace, name, id, ...(receipt && { receipt }) };
  const prepared = await prepareEvent(runtime, workflow, target, event);
  const { eventId, type, payload } = prepared;
  const { store } = runtime;
  const instance = new InstanceHandle(runtime, workflow, id);
  const repeated = async (): Promise<CreatedOrSent> => {
    const done = await store.engine.requests.find({ namespace, key: receipt?.key ?? "" });
    return { instance, outcome: done === null ? "sent" : JSON.parse(done.target) };
  };
  for (;;) {
    const only = await findOwn?.();
    const sent =
      only === null
        ? ({ result: "missing" } as const)
        : await store.instances.sendEvent(only === undefined ? prepared : { ...prepared, only });
    if (sent.result === "repeated") return repeated();
    if (sent.result !== "missing") {
      refuseLost(name, id, sent.result);
      if ("ref" in sent) runtime.touched(sent.ref);
      return { instance, outcome: "sent" };
    }
    const [created] = await runtime.create([{ ...insert, event: { eventId, type, payload } }]);
    if (created?.result === "repeated") return repeated();
    if (created?.result === "created") return { instance, outcome: "created" };
    // Another caller has created it meanwhile: the next round finds it.
  }
}
