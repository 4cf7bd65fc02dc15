/** One step from a container to what it holds: a property, an index, or a text of its own such as `.values()[1]`. */
export type Segment = string | number | { readonly text: string };

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** What is kept of a long path, from its beginning and from its end. */
const FIRST_SEGMENTS = 8;
const LAST_SEGMENTS = 4;
const LONGEST_KEY = 64;

/** For example `payload.items[3]["e-mail"]`. */
export function formatPath(label: string, path: readonly Segment[]): string {
  const segments = path.map(formatSegment);
  const left = segments.length - FIRST_SEGMENTS - LAST_SEGMENTS;
  if (left > 0) segments.splice(FIRST_SEGMENTS, left, "…");
  return label + segments.join("");
}

function formatSegment(segment: Segment): string {
  if (typeof segment === "object") return segment.text;
  if (typeof segment === "number") return `[${segment}]`;
  if (segment.length > LONGEST_KEY) return `[${JSON.stringify(`${segment.slice(0, LONGEST_KEY)}…`)}]`;
  return IDENTIFIER.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}
