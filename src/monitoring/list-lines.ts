import { decodeCursor, encodeCursor } from "../cursor.ts";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { LineKind, type LineLimits } from "../store/lines/line-records.ts";
import type { LineMember, ListedLine } from "../store/lines/listed-lines.ts";
import type { Store } from "../store/store.ts";

/** An instance that shares a limit with others. */
export interface InstanceInLine {
  readonly workflowName: string;
  readonly id: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
}

/** The instances that share one limit: a key of a workflow's `concurrency` or, if it has none, of its `rateLimit`. */
export interface LineSummary {
  readonly kind: "concurrency" | "rateLimit";
  readonly key: string;
  readonly workflowName: string;
  /** How many run at a time, or start in a period; null if this process lacks the workflow's code. */
  readonly limit: number | null;
  /** Of the workflow's rate; null without one. */
  readonly periodMs: number | null;
  /** How many hold a slot, counted up to 1000; 0 where only a rate limits them. */
  readonly running: number;
  /** Some of those. */
  readonly inside: readonly InstanceInLine[];
  /** How many wait, counted up to 1000. */
  readonly waiting: number;
  /** Those that come first. */
  readonly next: readonly InstanceInLine[];
  /** When a worker looks at the line, such as when the rate allows the next start; null while it waits for a slot. */
  readonly looksAt: Date | null;
}

export interface LineListOptions {
  /** Only lines in which an instance waits. Default: false, all whose keys are in use. */
  readonly waiting?: boolean;
  /** 1 to 100. Default: 20. */
  readonly limit?: number;
  /** From the page before. */
  readonly cursor?: string;
}

export interface LinePage {
  readonly lines: readonly LineSummary[];
  /** Null on the last page: a search can end a page before its limit. */
  readonly cursor: string | null;
}

const FIELDS = ["waiting", "limit", "cursor"];
const USUAL_LIMIT = 20;
const MOST_LINES = 100;
const NAMED = 10;
/** Lines of one read, and in all for one page. */
const AT_ONCE = 20;
const MOST_COMPARED = 400;

interface Place {
  readonly kind: LineKind;
  readonly after: string;
}

const FIRST: Place = { kind: LineKind.slots, after: "" };

/** One page of a namespace's lines, in the order of kind and key. */
export async function listLines(
  store: Store,
  namespace: string,
  limitsOf: (name: string) => LineLimits,
  options: LineListOptions = {},
): Promise<LinePage> {
  const { waiting, limit, cursor } = parseOptions(options);
  const lines: LineSummary[] = [];
  let place: Place | null = cursor === undefined ? FIRST : parsePlace(cursor);
  for (let compared = 0; place !== null && lines.length < limit && compared < MOST_COMPARED; compared += AT_ONCE) {
    const query = { ...place, namespace, limit: AT_ONCE, members: NAMED };
    const found = await store.instances.statements.lines(query);
    const taken = takeUntilFull(found, limit - lines.length, waiting);
    lines.push(...taken.lines.map((line) => toSummary(line, limitsOf(line.name))));
    place = placeAfter(place, found, taken.compared);
  }
  return { lines, cursor: place === null ? null : encodeCursor(`${place.kind}${place.after}`) };
}

/** Those that are wanted, and how many had to be compared for them. */
function takeUntilFull(found: readonly ListedLine[], room: number, waiting: boolean) {
  const lines: ListedLine[] = [];
  for (const [index, line] of found.entries()) {
    if (lines.length === room) return { lines, compared: index };
    if (!waiting || line.waiting > 0) lines.push(line);
  }
  return { lines, compared: found.length };
}

function placeAfter({ kind }: Place, found: readonly ListedLine[], compared: number): Place | null {
  const last = found[compared - 1];
  if (last !== undefined && (compared < found.length || found.length === AT_ONCE)) return { kind, after: last.key };
  return kind === LineKind.slots ? { kind: LineKind.starts, after: "" } : null;
}

function parseOptions(
  options: LineListOptions,
): LineListOptions & { readonly waiting: boolean; readonly limit: number } {
  checkOptions(options, { label: "lines", fields: FIELDS });
  const { waiting = false, limit = USUAL_LIMIT, cursor } = options;
  if (typeof waiting !== "boolean") throw new InvalidInputError("options.invalid", "waiting must be true or false.");
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LINES) {
    throw new InvalidInputError("options.invalid", `limit must be a whole number from 1 to ${MOST_LINES}.`);
  }
  return { waiting, limit, ...(cursor === undefined ? {} : { cursor }) };
}

function parsePlace(cursor: string): Place {
  const text = decodeCursor(cursor);
  const kind = Object.values(LineKind).find((one) => text.startsWith(String(one)));
  if (kind === undefined) throw new InvalidInputError("cursor.invalid", "The cursor isn't one of this list.");
  return { kind, after: text.slice(1) };
}

function toSummary(line: ListedLine, { slots, starts }: LineLimits): LineSummary {
  const { kind, key, name, held, holders, waiting, next, lookAt } = line;
  const limitsSlots = kind === LineKind.slots;
  return {
    kind: limitsSlots ? "concurrency" : "rateLimit",
    key,
    workflowName: name,
    limit: limitsSlots ? slots : (starts?.limit ?? null),
    periodMs: starts?.periodMs ?? null,
    running: held,
    inside: holders.map(toMember),
    waiting,
    next: next.map(toMember),
    looksAt: lookAt === null ? null : new Date(lookAt),
  };
}

function toMember({ name, id, createdAt, startedAt }: LineMember): InstanceInLine {
  return {
    workflowName: name,
    id,
    createdAt: new Date(createdAt),
    startedAt: startedAt === null ? null : new Date(startedAt),
  };
}
