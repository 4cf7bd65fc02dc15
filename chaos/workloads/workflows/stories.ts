import type { HistoryItem } from "../../../src/index.ts";
import type { Entry } from "../../ledger.ts";
import type { KindName, Operation, Output } from "./kinds.ts";

/** An instance as the database has it at the end. */
export interface CollectedInstance {
  readonly id: string;
  /** Whether another instance has created it. */
  readonly isChild: boolean;
  readonly status: string;
  readonly run: number;
  readonly output?: Output;
  readonly error: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** The journals of all its runs. */
  readonly entries: readonly HistoryItem[];
}

export interface Collected {
  readonly instances: readonly CollectedInstance[];
  readonly effects: readonly { readonly key: string; readonly item: string }[];
}

/** Also `unknown` if its process ended before there was an answer. */
export type Answer = "accepted" | "refused" | "unknown";

/** A run of a step's body. */
export interface Body {
  readonly run: number;
  readonly step: string;
  readonly token: string;
  readonly key: string;
  readonly process: string;
  /** When it began, by the correct clock. */
  readonly time: number;
}

/** A process took an instance, or took it over. */
export interface Claim {
  readonly run: number;
  readonly process: string;
  /** By the database's clock. */
  readonly time: number;
}

/** Everything that is known about one item. */
export interface Story {
  readonly item: string;
  readonly kind: KindName;
  readonly answer: Answer;
  /** An error that faults don't explain. */
  readonly surprise: string | null;
  /** The operations on it, and their outcomes. */
  readonly operations: readonly { readonly operation: Operation; readonly answer: "done" | "too late" | "unknown" }[];
  readonly claims: readonly Claim[];
  readonly bodies: readonly Body[];
  /** The keys of its effects. */
  readonly effects: readonly string[];
  readonly instance: CollectedInstance | null;
}

type Draft = { -readonly [Field in keyof Story]: Story[Field] } & {
  operations: { operation: Operation; answer: "done" | "too late" | "unknown" }[];
  claims: Claim[];
  bodies: Body[];
  effects: string[];
};

const ANSWERS: readonly string[] = ["accepted", "refused", "unknown"] satisfies Answer[];
const COUNTED: readonly unknown[] = ["pause", "terminate", "restart"] satisfies Operation[];

/** The history of each item, children included, and the records about items that no producer created. */
export function tellStories(
  entries: readonly Entry[],
  { instances, effects }: Collected,
): { stories: ReadonlyMap<string, Story>; unasked: readonly string[] } {
  const stories = new Map<string, Draft>();
  const unasked = new Set<string>();
  const on = (item: string, change: (story: Draft) => void) => {
    const story = stories.get(item);
    if (story === undefined) unasked.add(item);
    else change(story);
  };
  for (const { did, item, kind } of entries) if (did === "asked") stories.set(item, begin(item, kind as KindName));
  for (const { output } of instances) {
    // A complete parent received the handles of its children.
    for (const child of output?.children ?? []) stories.set(child, { ...begin(child, "child"), answer: "accepted" });
  }
  for (const { isChild, id } of instances) {
    if (isChild && !stories.has(id)) stories.set(id, begin(id, "child")); // of a parent that isn't complete
  }
  for (const entry of entries) if (entry.did !== "asked") on(entry.item, (story) => goOn(story, entry));
  for (const { key, item } of effects) on(item, (story) => story.effects.push(key));
  for (const instance of instances) on(instance.id, (story) => Object.assign(story, { instance }));
  return { stories, unasked: [...unasked] };
}

function begin(item: string, kind: KindName): Draft {
  const nothing = { operations: [], claims: [], bodies: [], effects: [], instance: null };
  return { item, kind, answer: "unknown", surprise: null, ...nothing };
}

function goOn(story: Draft, entry: Entry): void {
  const { did, process, run, step, token, key, time, code, message } = entry;
  if (did === "claimed") story.claims.push({ run, process, time } as Claim);
  if (did === "began") {
    const runOfKey = Number(String(key).split("/")[1]);
    story.bodies.push({ run: runOfKey, step, token, key, process, time } as Body);
  }
  if (ANSWERS.includes(did)) story.answer = did as Answer;
  if (did === "refused" || (did === "operated" && entry["answer"] === "refused")) {
    story.surprise = `${code}: ${message}`;
  }
  const { operation, answer } = entry as Entry & { operation?: Operation; answer?: "done" | "too late" | "unknown" };
  if (operation === undefined || !COUNTED.includes(operation)) return;
  // A producer that was killed while it waited for the answer has none.
  if (did === "operates") story.operations.push({ operation, answer: "unknown" });
  if (did === "operated" && answer !== undefined) {
    story.operations.pop();
    story.operations.push({ operation, answer });
  }
}
