import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { change, get, path } from "../data/api.ts";
import type { DeclaredSchemas } from "../data/json-schema.ts";
import type { Explanation, Instance } from "../data/types.ts";
import { jsonOf, ValueField } from "../parts/value-field.tsx";
import { ask } from "../shell/dialogs.tsx";

/** A form for the declared events of the workflow; it begins with the one that the instance waits for. */
export async function sendEvent({ workflowName, id }: Instance, explanation: Explanation | null): Promise<void> {
  const { events = null } =
    (await get<DeclaredSchemas>(`/workflows${path(workflowName)}/schemas`).catch(() => {})) ?? {};
  const awaited = [explanation?.reason, ...(explanation?.others ?? [])].find(
    (one) => one?.reason === "waitingForEvent",
  ) as { readonly type?: string } | undefined;
  ask({
    title: "Send an event",
    action: "Send",
    fields: <Fields events={events} awaited={awaited?.type} />,
    act: async (form) => {
      const type = String(form.get("type"));
      const url = `/workflows${path(workflowName)}/instances${path(id)}/events`;
      await change(url, { type, ...jsonOf(form, "payload") }, { key: crypto.randomUUID() });
      return `The event “${type}” is sent.`;
    },
  });
}

interface FieldsProps {
  readonly events: DeclaredSchemas["events"];
  readonly awaited: string | undefined;
}

function Fields({ events, awaited }: FieldsProps) {
  const id = useId();
  const types = Object.keys(events ?? {});
  const type = useSignal(awaited !== undefined && types.includes(awaited) ? awaited : (types[0] ?? ""));
  return (
    <>
      <div class="field">
        <label for={id}>Type</label>
        {events === null ? (
          <input id={id} name="type" required autocomplete="off" maxLength={200} defaultValue={awaited} />
        ) : (
          <select id={id} name="type" value={type.value} onChange={(event) => (type.value = event.currentTarget.value)}>
            {types.map((one) => (
              <option key={one} value={one} selected={one === type.value}>
                {one}
                {one === awaited ? " (awaited)" : ""}
              </option>
            ))}
          </select>
        )}
      </div>
      <ValueField key={type.value} name="payload" label="Payload" schema={events?.[type.value] ?? null} />
    </>
  );
}
