import { findHook } from "../../hooks/registered-hooks.ts";
import { prepareTrigger, type TriggerOptions } from "../../hooks/trigger.ts";
import type { TriggeredHook } from "../../hooks/write-triggers.ts";
import { checkInstanceId } from "../../names.ts";
import { OpenTransaction } from "../../queue/open-transaction.ts";
import { refuseLost } from "../instances/foreign-bindings.ts";
import type { SentEvent } from "../instances/instance.ts";
import { prepareEvent } from "../instances/prepare-event.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";

/** A call that a step makes in its own transaction. */
export interface DurableCall<Result> {
  /** Of the step. */
  readonly name: string;
  readonly body: (tx: OpenTransaction) => Promise<Result>;
  /** The step has ended. What it wrote is made known to workers, unless an earlier execution has written it. */
  readonly written: () => void;
}

/** Which instance an event is sent to. */
export interface EventTarget {
  readonly workflow: unknown;
  readonly id: string;
}

export function triggerStepName(hook: string): string {
  return `trigger ${hook}`;
}

export function eventStepName(type: string, workflow: string): string {
  return `send ${type} to ${workflow}`;
}

/** Triggers a hook in the step's transaction. */
export function triggerCall(
  { store, namespace }: WorkflowRuntime,
  hook: unknown,
  payload: unknown,
  options: TriggerOptions | undefined,
): DurableCall<TriggeredHook> {
  const { hooks, name } = findHook(store, namespace, hook);
  let done = false;
  return {
    name: triggerStepName(name),
    body: async (tx) => {
      const trigger = await prepareTrigger(hooks, name, payload, options, store.createId);
      const [inserted] = await OpenTransaction.engineOf(tx).insertHooks([trigger]);
      done = true;
      return { id: inserted?.id ?? trigger.id };
    },
    written: () => {
      if (!done) return;
      store.work.post({ namespace: hooks.namespace, delayMs: 0 });
      store.work.announce(hooks.namespace);
    },
  };
}

/** Sends an event in the step's transaction. */
export function eventCall(
  runtime: WorkflowRuntime,
  target: EventTarget,
  event: SentEvent<string, unknown>,
): DurableCall<void> {
  const workflow = runtime.workflows.get(target?.workflow);
  const id = checkInstanceId(target.id, runtime.workflows.settings);
  const instance = { namespace: runtime.namespace, name: workflow.name, id };
  let ref: string | undefined;
  return {
    name: eventStepName(event?.type, workflow.name),
    body: async (tx) => {
      const prepared = await prepareEvent(runtime, workflow, instance, event);
      const [sent] = await OpenTransaction.engineOf(tx).sendEvents([prepared]);
      refuseLost(workflow.name, id, sent?.result ?? "missing");
      if (sent !== undefined && "ref" in sent) ref = sent.ref;
    },
    written: () => {
      if (ref !== undefined) runtime.touched(ref);
    },
  };
}
