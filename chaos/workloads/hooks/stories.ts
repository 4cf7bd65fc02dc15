import type { Entry } from "../../ledger.ts";
import type { KindName, Way } from "./kinds.ts";

export interface DeadLetter {
  readonly item: string;
  readonly attempts: number;
  readonly error: string;
}

/** The contents of the database at the end. */
export interface Collected {
  /** The item of each row that was written together with a trigger. */
  readonly rows: readonly string[];
  /** The item of each effect of a handler. */
  readonly effects: readonly string[];
  readonly deadLetters: readonly DeadLetter[];
}

/** Also `unknown` if its process ended before there was an answer. */
export type Answer = "accepted" | "rolled back" | "refused" | "unknown";

export interface Attempt {
  readonly at: number;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** By the right clock. */
  readonly time: number;
}

/** Everything that is known about one item. */
export interface Story {
  readonly item: string;
  readonly kind: KindName;
  readonly way: Way;
  /** Rises within a lane. */
  readonly sequence: number;
  readonly key: string | null;
  readonly processAt: number | null;
  readonly askedAt: number;
  readonly answer: Answer;
  /** The code of an error that doesn't mean that the database is unavailable. */
  readonly surprise: string | null;
  readonly began: readonly Attempt[];
  /** How often it did its work. */
  readonly ran: number;
  readonly rows: number;
  readonly effects: number;
  readonly deadLetters: readonly DeadLetter[];
}

type Draft = { -readonly [Field in keyof Story]: Story[Field] } & { began: Attempt[]; deadLetters: DeadLetter[] };

const ANSWERS: readonly string[] = ["accepted", "rolled back", "refused", "unknown"] satisfies Answer[];
/** The codes of errors that a caller may get when faults prevent its commit: ours, PostgreSQL's, the system's. */
const EXPECTED_CODE = /^(store\.unavailable|57P\d\d|E[A-Z]+)$/;
/** The driver's messages about a lost connection, which have no code. */
const EXPECTED_MESSAGE = /Connection terminated|not queryable/;

/** The history of each item, and the records about items that no producer created. */
export function tellStories(
  entries: readonly Entry[],
  { rows, effects, deadLetters }: Collected,
): { stories: ReadonlyMap<string, Story>; unasked: readonly string[] } {
  const stories = new Map<string, Draft>();
  const unasked = new Set<string>();
  const on = (item: string, change: (story: Draft) => void) => {
    const story = stories.get(item);
    if (story === undefined) unasked.add(item);
    else change(story);
  };
  for (const entry of entries) if (entry.did === "asked") stories.set(entry.item, begin(entry));
  for (const entry of entries) if (entry.did !== "asked") on(entry.item, (story) => goOn(story, entry));
  for (const item of rows) on(item, (story) => story.rows++);
  for (const item of effects) on(item, (story) => story.effects++);
  for (const letter of deadLetters) on(letter.item, (story) => story.deadLetters.push(letter));
  return { stories, unasked: [...unasked] };
}

function begin(entry: Entry): Draft {
  const { item, at, kind, way, sequence, key = null, processAt = null } = entry;
  const asked = { item, kind, way, sequence, key, processAt, askedAt: at } as Omit<Story, "answer">;
  return { ...asked, answer: "unknown", surprise: null, began: [], ran: 0, rows: 0, effects: 0, deadLetters: [] };
}

function goOn(story: Draft, { did, at, attempt, key, time, code, message }: Entry): void {
  if (did === "began") story.began.push({ at, attempt, idempotencyKey: key, time } as Attempt);
  if (did === "ran") story.ran++;
  if (!ANSWERS.includes(did)) return;
  story.answer = did as Answer;
  const own = story.way === "own transaction" || story.way === "rolled back"; // errors of the driver, not ours
  if (did === "refused" && !own && !isExpected(code, message)) story.surprise = `${code}: ${message}`;
}

function isExpected(code: unknown, message: unknown): boolean {
  return typeof code === "string" ? EXPECTED_CODE.test(code) : EXPECTED_MESSAGE.test(String(message));
}
