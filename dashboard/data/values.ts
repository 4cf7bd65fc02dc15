/** A user's value, as it can be shown. Values that JSON doesn't have come as objects with the key `$perdure`. */
export type Shown =
  | { readonly kind: "text" | "number" | "word" | "special" | "hidden"; readonly text: string }
  | {
      readonly kind: "tree";
      readonly open: string;
      readonly close: string;
      readonly items: readonly [string, unknown][];
    };

const TAG = "$perdure";
const HIDDEN = "[REDACTED]";

export function toShown(value: unknown): Shown {
  if (value === undefined) return { kind: "word", text: "undefined" };
  if (value === HIDDEN) return { kind: "hidden", text: "hidden" };
  if (typeof value === "string") return { kind: "text", text: JSON.stringify(value) };
  if (typeof value === "number") return { kind: "number", text: String(value) };
  if (value === null || typeof value !== "object") return { kind: "word", text: String(value) };
  if (Array.isArray(value))
    return { kind: "tree", open: "[", close: "]", items: value.map((one, at) => [String(at), one]) };
  if (Object.hasOwn(value, TAG)) return tagged(value as Record<string, unknown>);
  return { kind: "tree", open: "{", close: "}", items: Object.entries(value) };
}

/** Whether a part of a value is hidden from the viewer, so that it can't be used as a value. */
export function hasHidden(value: unknown): boolean {
  if (value === HIDDEN) return true;
  if (typeof value !== "object" || value === null) return false;
  return (value as Record<string, unknown>)[TAG] === "sensitive" || Object.values(value).some(hasHidden);
}

function tagged(node: Record<string, unknown>): Shown {
  const { [TAG]: tag, value, ...rest } = node;
  switch (tag) {
    case "undefined":
      return { kind: "word", text: "undefined" };
    case "number":
      return { kind: "number", text: String(value) };
    case "bigint":
      return { kind: "number", text: `${value}n` };
    case "Date":
      return { kind: "special", text: `Date ${value ?? "invalid"}` };
    case "RegExp":
      return { kind: "special", text: `/${rest["source"]}/${rest["flags"]}` };
    case "Map":
      return { kind: "tree", open: "Map {", close: "}", items: pairs(value) };
    case "Set":
      return { kind: "tree", open: "Set {", close: "}", items: list(value).map((one, at) => [String(at), one]) };
    case "object":
      return { kind: "tree", open: "{", close: "}", items: Object.entries((value ?? {}) as object) };
    case "array":
      return { kind: "tree", open: "[", close: "]", items: Object.entries((value ?? {}) as object) };
    case "sensitive":
      return { kind: "hidden", text: "hidden" };
    case "caused":
    case "delayed":
    case "unchecked":
      return toShown(value);
    default:
      return typeof value === "string" && Object.keys(rest).length === 0
        ? { kind: "special", text: `${tag} ${value}` }
        : {
            kind: "tree",
            open: `${tag} {`,
            close: "}",
            items: Object.entries({ ...rest, ...(value === undefined ? {} : { value }) }),
          };
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function pairs(value: unknown): [string, unknown][] {
  return list(value).map((pair) => {
    const [key, item] = list(pair);
    return [typeof key === "string" ? key : JSON.stringify(key), item];
  });
}
