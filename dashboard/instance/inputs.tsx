import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, path } from "../data/api.ts";
import type { Explanation, Instance, InstanceDetails } from "../data/types.ts";
import { hasHidden } from "../data/values.ts";
import { Card } from "../parts/page.tsx";
import { FullTime } from "../parts/time.tsx";
import { UnreadableNote, Value } from "../parts/value.tsx";

interface InputsProps {
  readonly instance: Instance;
  readonly explanation: Explanation | null;
}

/**
 * What an instance was given: its params, and the events that no step has received. They can be large, so they are read rarely.
 */
export function Inputs({ instance, explanation }: InputsProps) {
  const details = useSignal<InstanceDetails | null>(null);
  const { workflowName, id, run, status } = instance;
  useEffect(() => {
    void readDetails(instance).then((read) => {
      if (read !== null) details.value = read;
    });
  }, [workflowName, id, run, status, unreceivedIn(explanation)]);
  if (details.value === null) return null;
  const { params, unreceivedCount, unreceivedEvents } = details.value;
  return (
    <>
      {unreceivedCount > 0 && (
        <Card title={`${unreceivedCount} ${unreceivedCount === 1 ? "event" : "events"} not received`}>
          <p class="muted lead">They are kept for a step that waits for their type.</p>
          <ol class="events">
            {unreceivedEvents.map((event, index) => (
              <li key={`${event.at} ${String(index)}`}>
                <header>
                  <strong>{event.type}</strong> <FullTime at={event.at} />
                </header>
                {event.unreadable !== undefined && <UnreadableNote of={event.unreadable} />}
                {event.omitted ? (
                  <p class="muted">Its payload is too large to be shown here.</p>
                ) : (
                  "payload" in event && <Value of={event.payload} label="payload" />
                )}
              </li>
            ))}
          </ol>
          {unreceivedEvents.length < unreceivedCount && (
            <p class="muted">Only the oldest {unreceivedEvents.length} are shown.</p>
          )}
        </Card>
      )}
      <Card title="Params">
        <Value of={params} label="params" />
      </Card>
    </>
  );
}

function unreceivedIn(explanation: Explanation | null): number {
  const counts = [explanation?.reason, ...(explanation?.others ?? [])].map((reason) =>
    Number(reason?.["unreceived"] ?? 0),
  );
  return Math.max(...counts);
}

/** Null if they can't be read now. */
export function readDetails({ workflowName, id }: Instance): Promise<InstanceDetails | null> {
  return get<InstanceDetails>(`/workflows${path(workflowName)}/instances${path(id)}`).catch(() => null);
}

/** Whether the params of an instance are known to the viewer in full. */
export function knowsParams(details: InstanceDetails | null): details is InstanceDetails {
  return details !== null && details.unreadable === undefined && !hasHidden(details.params);
}
