import type { Signal } from "@preact/signals";
import { ApiError, change, path } from "../data/api.ts";
import { ask } from "../shell/dialogs.tsx";
import { open } from "../shell/router.tsx";

/** Asks for what a new instance needs, and opens it. `params` is JSON, with what it begins with. */
export function newInstance(
  workflows: readonly string[],
  workflow: string | undefined,
  params: unknown = undefined,
): void {
  ask({
    title: "Start an instance",
    action: "Start",
    fields: (
      <>
        <label class="field">
          <span>Workflow</span>
          <select name="workflow" defaultValue={workflow}>
            {workflows.map((name) => (
              <option key={name} value={name} selected={name === workflow}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Id (optional)</span>
          <input name="id" autocomplete="off" maxLength={200} />
        </label>
        <JsonField name="params" label="Params (JSON)" value={params} />
      </>
    ),
    act: async (form) => {
      const name = String(form.get("workflow"));
      const id = String(form.get("id")).trim();
      const body = { ...(id === "" ? {} : { id }), ...jsonOf(form, "params") };
      const created = await change<{ id: string }>(`/workflows${path(name)}/instances`, body, {
        key: crypto.randomUUID(),
      });
      open(`/workflows${path(name, created.id)}`);
      return "The instance is created.";
    },
  });
}

export function JsonField(props: {
  readonly name: string;
  readonly label: string;
  readonly value?: unknown;
  readonly text?: Signal<string>;
}) {
  const { name, label, value } = props;
  return (
    <label class="field">
      <span>{label}</span>
      <textarea
        name={name}
        rows={6}
        spellcheck={false}
        defaultValue={value === undefined ? "" : JSON.stringify(value, null, 2)}
      />
    </label>
  );
}

/** The value that was typed; nothing if the field is empty. */
export function jsonOf(form: FormData, name: string): Record<string, unknown> {
  const text = String(form.get(name) ?? "").trim();
  if (text === "") return {};
  try {
    return { [name]: JSON.parse(text) as unknown };
  } catch (error) {
    throw new ApiError(0, "json", `That isn't JSON: ${(error as Error).message}`);
  }
}
