import { useSignal } from "@preact/signals";
import { useId, useMemo } from "preact/hooks";
import { ApiError } from "../data/api.ts";
import { type FormField, fieldOf, fits, type JsonSchema, toFields, withField } from "../data/json-schema.ts";

interface ValueFieldProps {
  readonly name: string;
  readonly label: string;
  /** What is declared of the value; null where nothing is. */
  readonly schema: JsonSchema | null;
  /** What the form begins with. */
  readonly value?: unknown;
}

/** A value that is typed: with a field for each part where the schema names them, or else as JSON. `jsonOf` reads it. */
export function ValueField({ name, label, schema, value }: ValueFieldProps) {
  const fields = useMemo(() => toFields(schema), [schema]);
  const current = useSignal<unknown>(value);
  const text = useSignal(toText(value));
  const asJson = useSignal(fields === null || !fits(value, fields));
  if (asJson.value || fields === null) {
    const parsed = parse(text.value);
    return (
      <div class="value-field">
        <label class="field">
          <span>{label} (JSON)</span>
          <textarea
            name={name}
            rows={6}
            spellcheck={false}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        {fields !== null && (
          <Switch
            text="Use the form"
            disabled={parsed === NO_JSON || !fits(parsed, fields)}
            onClick={() => {
              current.value = parsed;
              asJson.value = false;
            }}
          />
        )}
      </div>
    );
  }
  return (
    <fieldset class="value-field">
      <legend>{label}</legend>
      {fields.map((field) => (
        <Part
          key={field.path.join("/")}
          field={field}
          value={fieldOf(current.value, field.path)}
          onChange={(part) => (current.value = withField(current.value, field.path, part))}
        />
      ))}
      <input type="hidden" name={name} value={JSON.stringify(withChecks(current.value, fields) ?? {})} />
      <Switch
        text="Edit as JSON"
        onClick={() => {
          text.value = toText(withChecks(current.value, fields));
          asJson.value = true;
        }}
      />
    </fieldset>
  );
}

function Switch(props: { readonly text: string; readonly disabled?: boolean; readonly onClick: () => void }) {
  const { text, disabled = false, onClick } = props;
  return (
    <button type="button" class="more" disabled={disabled} onClick={onClick}>
      {text}
    </button>
  );
}

interface PartProps {
  readonly field: FormField;
  readonly value: unknown;
  readonly onChange: (part: unknown) => void;
}

function Part({ field, value, onChange }: PartProps) {
  const { path, kind, required, schema } = field;
  const id = useId();
  if (kind === "check") {
    return (
      <label class="check">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />{" "}
        {path.join(" › ")}
      </label>
    );
  }
  return (
    <div class="field">
      <label for={id}>
        {path.join(" › ")}
        {!required && <span class="faint"> (optional)</span>}
      </label>
      <Control id={id} field={field} value={value} onChange={onChange} />
      {schema.description !== undefined && <small class="faint">{schema.description}</small>}
    </div>
  );
}

function Control({ id, field, value, onChange }: PartProps & { readonly id: string }) {
  const { kind, required, choices, schema } = field;
  const given = (text: string) => onChange(text === "" ? undefined : text);
  switch (kind) {
    case "choice":
      return (
        <select
          id={id}
          required={required}
          value={value as string}
          onChange={(event) => given(event.currentTarget.value)}
        >
          <option value="" />
          {choices.map((choice) => (
            <option key={choice} value={choice} selected={choice === value}>
              {choice}
            </option>
          ))}
        </select>
      );
    case "number":
      return (
        <input
          id={id}
          type="number"
          required={required}
          min={schema.minimum}
          max={schema.maximum}
          step={schema.type === "integer" ? 1 : "any"}
          defaultValue={value as string}
          placeholder={hintOf(schema)}
          onInput={({ currentTarget: { value: typed } }) => onChange(typed === "" ? undefined : Number(typed))}
        />
      );
    case "json":
      return (
        <textarea
          id={id}
          rows={2}
          required={required}
          spellcheck={false}
          defaultValue={toText(value)}
          placeholder={hintOf(schema) ?? "JSON"}
          onInput={({ currentTarget: area }) => {
            const parsed = parse(area.value);
            area.setCustomValidity(parsed === NO_JSON ? "This must be JSON." : "");
            if (parsed !== NO_JSON) onChange(parsed);
          }}
        />
      );
    default:
      return (
        <input
          id={id}
          required={required}
          autocomplete="off"
          minLength={schema.minLength}
          maxLength={schema.maxLength}
          defaultValue={value as string}
          placeholder={hintOf(schema) ?? schema.format}
          onInput={(event) => given(event.currentTarget.value)}
        />
      );
  }
}

function hintOf({ default: given }: JsonSchema): string | undefined {
  return given === undefined ? undefined : toText(given);
}

/** A box that isn't checked means false. */
function withChecks(value: unknown, fields: readonly FormField[]): unknown {
  return fields
    .filter(({ kind, path }) => kind === "check" && fieldOf(value, path) === undefined)
    .reduce((all, { path }) => withField(all, path, false), value);
}

const NO_JSON = Symbol("no JSON");

function parse(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return NO_JSON;
  }
}

function toText(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
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
