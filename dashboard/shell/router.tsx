import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { BASE } from "../data/api.ts";

/** The view that the URL names, below the base path. */
const url = signal(new URL(location.href));

/** The parts of the path, decoded. */
export const route = computed<readonly string[]>(() =>
  url.value.pathname
    .slice(BASE.length + 1)
    .split("/")
    .filter((part) => part !== "")
    .map(decode),
);

export const search = computed(() => url.value.searchParams);

export function startRouter(): void {
  addEventListener("popstate", () => {
    url.value = new URL(location.href);
  });
}

/** Opens a view: a path below the base path. */
export function open(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const next = new URL(`${BASE}${to}`, location.href);
  const moved = next.pathname !== url.value.pathname;
  if (replace) history.replaceState(null, "", next);
  else history.pushState(null, "", next);
  url.value = next;
  if (!moved) return;
  scrollTo(0, 0);
  document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
}

/** The view as it can be shared: the path below the base path, with its filters. */
export function currentView(): string {
  return `${url.value.pathname.slice(BASE.length)}${url.value.search}`;
}

/**
 * Changes filters of the view. Null and empty values are removed; a cursor never outlives a filter. The browser's back button
 * returns to the view before, unless `replace` says that this one only refines it, as while the viewer types.
 */
export function setSearch(
  fields: Readonly<Record<string, string | readonly string[] | null>>,
  { replace = false }: { readonly replace?: boolean } = {},
): void {
  const next = new URLSearchParams(url.value.search);
  if (!("cursor" in fields)) next.delete("cursor");
  for (const [name, value] of Object.entries(fields)) {
    next.delete(name);
    for (const one of typeof value === "string" ? [value] : (value ?? [])) if (one !== "") next.append(name, one);
  }
  const text = next.toString();
  open(`${url.value.pathname.slice(BASE.length)}${text === "" ? "" : `?${text}`}`, { replace });
}

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly "aria-current"?: "page" | undefined;
  readonly children: ComponentChildren;
}

/** A link to a view. Opening it in another tab works as with every link. */
export function Link({ to, class: name, "aria-current": current, children }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
    event.preventDefault();
    open(to);
  };
  return (
    <a class={name} aria-current={current} href={`${BASE}${to}`} onClick={follow}>
      {children}
    </a>
  );
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
