import { useSignal } from "@preact/signals";
import { seesPayloads } from "../data/api.ts";
import type { Failure, Unreadable } from "../data/types.ts";
import { hasHidden, toShown } from "../data/values.ts";
import { Copy } from "./copy.tsx";

/** Of a long list, this many items are shown at first. */
const FIRST_ITEMS = 100;
/** Text nodes of this length are cut, with a button for the rest. */
const FIRST_CHARACTERS = 2000;

/** A user's value as a tree. It is text for the browser, whatever is in it. */
export function Value({ of, label }: { readonly of: unknown; readonly label: string }) {
  if (!seesPayloads())
    return (
      <p class="hidden-value" title="You don't have the permission to see it.">
        hidden
      </p>
    );
  return (
    <div class="value">
      <Copy text={JSON.stringify(of, null, 2) ?? "undefined"} what={label} />
      <Node value={of} level={0} />
    </div>
  );
}

/** A user's value in one line of a table. */
export function ValueLine({ of, label }: { readonly of: unknown; readonly label: string }) {
  if (!seesPayloads() || hasHidden(of)) return <span class="hidden-value">hidden</span>;
  const text = JSON.stringify(of) ?? "undefined";
  return (
    <span class="value-line">
      <code>{text.slice(0, FIRST_CHARACTERS)}</code>
      <Copy text={text} what={label} />
    </span>
  );
}

function Node({ value, name, level }: { readonly value: unknown; readonly name?: string; readonly level: number }) {
  const shown = toShown(value);
  const open = useSignal(level < 2);
  const all = useSignal(false);
  const key = name === undefined ? null : <span class="key">{name}: </span>;
  if (shown.kind !== "tree") {
    const long = shown.text.length > FIRST_CHARACTERS && !all.value;
    return (
      <div class="leaf">
        {key}
        <span class={`value-${shown.kind}`}>{long ? shown.text.slice(0, FIRST_CHARACTERS) : shown.text}</span>
        {long && (
          <More onClick={() => (all.value = true)} text={`${shown.text.length - FIRST_CHARACTERS} more characters`} />
        )}
      </div>
    );
  }
  const { items } = shown;
  if (items.length === 0) {
    return (
      <div class="leaf">
        {key}
        {shown.open}
        {shown.close}
      </div>
    );
  }
  const some = all.value ? items : items.slice(0, FIRST_ITEMS);
  return (
    <details open={open.value} onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        {key}
        {shown.open}
        {open.value ? "" : ` ${items.length} ${shown.close}`}
      </summary>
      {open.value && (
        <div class="branch">
          {some.map(([field, item]) => (
            <Node key={field} name={field} value={item} level={level + 1} />
          ))}
          {some.length < items.length && (
            <More onClick={() => (all.value = true)} text={`${items.length - some.length} more`} />
          )}
        </div>
      )}
      {open.value && shown.close}
    </details>
  );
}

function More({ text, onClick }: { readonly text: string; readonly onClick: () => void }) {
  return (
    <button type="button" class="more" onClick={onClick}>
      … {text}
    </button>
  );
}

/** An error with its stack, if the server shows it. */
export function FailureView({ of: { name, message, code, stack } }: { readonly of: Failure }) {
  const text =
    message === "[REDACTED]" ? "The message is hidden: you don't have the permission to see it." : String(message);
  return (
    <div class="failure">
      <p>
        <strong>{name}</strong>
        {code !== undefined && <code>{code}</code>}
      </p>
      <pre class="message">{text}</pre>
      {typeof stack === "string" && stack !== "[REDACTED]" && (
        <details>
          <summary>Stack</summary>
          <pre class="stack">{stack}</pre>
        </details>
      )}
    </div>
  );
}

export function UnreadableNote({ of: { code, message } }: { readonly of: Unreadable }) {
  return (
    <p class="problem">
      A stored value can't be read ({code}): {message}
    </p>
  );
}
