/** One step from a container to what it holds: a property, an index, or a text of its own such as `.values()[1]`. */
export type Segment = string | number | { readonly text: string };

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** For example `payload.items[3]["e-mail"]`. */
export function formatPath(label: string, path: readonly Segment[]): string {
  return label + path.map(formatSegment).join("");
}

function formatSegment(segment: Segment): string {
  if (typeof segment === "object") return segment.text;
  if (typeof segment === "number") return `[${segment}]`;
  return IDENTIFIER.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}
