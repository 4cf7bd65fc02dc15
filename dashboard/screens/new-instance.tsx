import { useSignal } from "@preact/signals";
import { ApiError, change, path } from "../data/api.ts";
import type { DeclaredSchemas } from "../data/json-schema.ts";
import { useResource } from "../data/live.ts";
import { jsonOf, ValueField } from "../parts/value-field.tsx";
import { ask } from "../shell/dialogs.tsx";
import { open } from "../shell/router.tsx";

/** What a new instance begins with: that of another one, or nothing. */
export interface NewInstance {
  readonly workflow: string | undefined;
  readonly params?: unknown;
  /** The instance whose params should be here, but are hidden from the viewer or can't be read. */
  readonly unknownParamsOf?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Asks for what a new instance needs, and opens it. */
export function newInstance(workflows: readonly string[], like: NewInstance): void {
  ask({
    title: "Start an instance",
    action: "Start",
    fields: <Fields workflows={workflows} like={like} />,
    act: async (form) => {
      const name = String(form.get("workflow"));
      const id = String(form.get("id")).trim();
      const labels = labelsOf(String(form.get("labels")));
      const body = { ...(id === "" ? {} : { id }), ...labels, ...jsonOf(form, "params") };
      const created = await change<{ id: string }>(`/workflows${path(name)}/instances`, body, {
        key: crypto.randomUUID(),
      });
      open(`/workflows${path(name, created.id)}`);
      return "The instance is created.";
    },
  });
}

function Fields({ workflows, like }: { readonly workflows: readonly string[]; readonly like: NewInstance }) {
  const workflow = useSignal(like.workflow ?? workflows[0] ?? "");
  const schemas = useResource<DeclaredSchemas>(`/workflows${path(workflow.value)}/schemas`);
  const known = !schemas.loading || schemas.error !== null;
  return (
    <>
      <label class="field">
        <span>Workflow</span>
        <select
          name="workflow"
          value={workflow.value}
          onChange={(event) => (workflow.value = event.currentTarget.value)}
        >
          {workflows.map((name) => (
            <option key={name} value={name} selected={name === workflow.value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>
          Id <span class="faint">(optional)</span>
        </span>
        <input name="id" autocomplete="off" maxLength={200} />
      </label>
      {like.unknownParamsOf !== undefined && (
        <p class="notice">
          You can't see the params of {like.unknownParamsOf}, so they can't be copied: the new instance gets what you
          type here.
        </p>
      )}
      {known && (
        <ValueField
          key={workflow.value}
          name="params"
          label="Params"
          schema={schemas.data?.input ?? null}
          value={workflow.value === like.workflow ? like.params : undefined}
        />
      )}
      <label class="field">
        <span>
          Labels <span class="faint">(optional, one in each line)</span>
        </span>
        <textarea
          name="labels"
          rows={2}
          spellcheck={false}
          placeholder="tenant=acme"
          defaultValue={Object.entries(like.labels ?? {})
            .map((label) => label.join("="))
            .join("\n")}
        />
      </label>
    </>
  );
}

function labelsOf(text: string): { readonly labels?: Readonly<Record<string, string>> } {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return {};
  const labels = lines.map((line) => {
    const at = line.indexOf("=");
    if (at < 1) throw new ApiError(0, "label", `A label is a key, an equals sign and a value; got “${line}”.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return { labels: Object.fromEntries(labels) };
}
