import type { SubscribeOptions, WorkflowInstance, WorkflowInstanceEvent } from "../../../src/index.ts";

/** Everything that a subscription gives, until it ends. */
export async function follow(
  instance: Pick<WorkflowInstance, "subscribe">,
  options: SubscribeOptions = {},
): Promise<WorkflowInstanceEvent[]> {
  const events: WorkflowInstanceEvent[] = [];
  for await (const event of await instance.subscribe(options)) events.push(event);
  return events;
}

/** An event in words: what differs from run to run is left out. */
export function inWords(event: WorkflowInstanceEvent): string {
  const step = "stepName" in event ? [event.stepName + (event.count === 1 ? "" : `#${event.count}`)] : [];
  const attempt = "attempt" in event ? [String(event.attempt)] : [];
  return [event.type, ...step, ...attempt].join(" ");
}

/** Without what was seen and isn't stored. */
export function stored(events: readonly WorkflowInstanceEvent[]): WorkflowInstanceEvent[] {
  const seen = ["workflow_waiting", "workflow_paused", "workflow_waiting_for_pause"];
  return events.filter(({ type }) => !seen.includes(type));
}
