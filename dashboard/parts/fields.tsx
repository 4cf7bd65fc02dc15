import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { seesPayloads } from "../data/api.ts";
import { search, setSearch } from "../shell/router.tsx";

const TYPING_MS = 300;

/** What the URL has beside filters. */
const OTHERS: readonly string[] = ["cursor", "job"];

/** The filters of a screen, and a button that removes them. */
export function Filters({ children }: { readonly children: ComponentChildren }) {
  const given = [...search.value.keys()].filter((name) => !OTHERS.includes(name));
  const clear = () => setSearch(Object.fromEntries(given.map((name) => [name, null])));
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {children}
      {given.length > 0 && (
        <button type="button" class="quiet clear" onClick={clear}>
          Clear filters
        </button>
      )}
    </form>
  );
}

/** A filter in the URL that is typed. It is applied shortly after the last key. */
export function TextFilter({
  name,
  label,
  hint,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
}) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const value = search.value.get(name) ?? "";
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
  const apply = (text: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSearch({ [name]: text.trim() }, { replace: true }), TYPING_MS);
  };
  return (
    <label class="field">
      <span>{label}</span>
      <input
        ref={input}
        name={name}
        defaultValue={value}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => apply(event.currentTarget.value)}
      />
    </label>
  );
}

/** Texts of errors. Where they are hidden they can't be searched, but a filter that came with a URL can be removed. */
export function ErrorFilter() {
  if (!seesPayloads() && !search.value.has("error")) return null;
  return <TextFilter name="error" label="Error contains" />;
}

export type Option = readonly [value: string, label: string];

/** A filter in the URL that is chosen. */
export function ChoiceFilter(props: {
  readonly name: string;
  readonly label: string;
  readonly options: readonly Option[];
  readonly all?: string;
}) {
  const { name, label, options, all = "All" } = props;
  const value = search.value.get(name) ?? "";
  return (
    <label class="field">
      <span>{label}</span>
      <select name={name} value={value} onChange={(event) => setSearch({ [name]: event.currentTarget.value })}>
        <option value="">{all}</option>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The next page of a list. Its URL can be shared; the browser's back button returns to the page before. */
export function Pager({ cursor }: { readonly cursor: string | null }) {
  const present = search.value.get("cursor");
  const turn = (to: string | null) => {
    setSearch({ cursor: to });
    scrollTo(0, 0);
  };
  if (cursor === null && present === null) return null;
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" class="button" disabled={present === null} onClick={() => turn(null)}>
        First page
      </button>
      <button type="button" class="button" disabled={cursor === null} onClick={() => turn(cursor)}>
        Next page
      </button>
    </nav>
  );
}
