import type { Entry } from "../../ledger.ts";
import type { Account, Problem } from "../../workload.ts";
import { FEW_RETRIES, KINDS, type KindName, kindOf } from "./kinds.ts";
import { type Collected, type Story, tellStories } from "./stories.ts";

export type { Collected, DeadLetter } from "./stories.ts";

/** How early a handler can appear to begin, because times are rounded to milliseconds. */
const ROUNDING_MS = 2;

const COLUMNS = [
  "accepted",
  "unknown",
  "unknown but done",
  "not taken",
  "finished",
  "collapsed",
  "dead letters",
  "ran again",
  "effects",
  "lost",
] as const;
type Column = (typeof COLUMNS)[number];
type Line = Record<Column, number>;

/** Compares the answers to producers with what handlers did and with what the database has. */
export function accountForHooks(entries: readonly Entry[], collected: Collected): Account {
  const { stories, unasked } = tellStories(entries, collected);
  const problems: Problem[] = unasked.map((item) =>
    problem("nothing appears by itself", `${item} was never asked for`, item),
  );
  const table = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, emptyLine()])) as Record<KindName, Line>;
  const byKey = groupByKey(stories);
  for (const story of stories.values()) {
    const rivals = story.key === null ? [] : (byKey.get(story.key) ?? []);
    const found = [...checkAnswer(story), ...checkEnd(story, rivals), ...checkEffects(story), ...checkAttempts(story)];
    count(table[story.kind], story, rivals, found);
    problems.push(...found);
  }
  return { table, problems };
}

function emptyLine(): Line {
  return Object.fromEntries(COLUMNS.map((column) => [column, 0])) as Line;
}

function groupByKey(stories: ReadonlyMap<string, Story>): Map<string, Story[]> {
  const groups = new Map<string, Story[]>();
  for (const story of stories.values()) {
    if (story.key === null) continue;
    const group = groups.get(story.key);
    if (group === undefined) groups.set(story.key, [story]);
    else group.push(story);
  }
  return groups;
}

const LOST = "nothing accepted is lost";

function count(line: Line, story: Story, rivals: readonly Story[], problems: readonly Problem[]): void {
  const { answer, ran, effects, deadLetters } = story;
  if (answer === "accepted") line.accepted++;
  if (answer === "unknown") line.unknown++;
  if (answer === "unknown" && hasHappened(story)) line["unknown but done"]++;
  if (answer === "rolled back" || answer === "refused") line["not taken"]++;
  if (ran > 0) line.finished++;
  else if (answer === "accepted" && isCovered(story, rivals)) line.collapsed++;
  if (ran > 1) line["ran again"]++;
  line["dead letters"] += deadLetters.length;
  line.effects += effects;
  if (problems.some(({ promise }) => promise === LOST)) line.lost++;
}

/** Whether the database or a handler has seen it. */
function hasHappened({ began, rows, effects, deadLetters }: Story): boolean {
  return began.length + rows + effects + deadLetters.length > 0;
}

/**
 * A trigger of a key is done when a run of the key did it or a newer one, or, if the order isn't known, a run began after it.
 */
function isCovered({ kind, sequence, askedAt }: Story, rivals: readonly Story[]): boolean {
  return rivals.some((rival) => {
    if (rival.ran === 0) return false;
    if (kindOf(kind).key === "own") return rival.sequence >= sequence;
    return rival.began.some(({ at }) => at > askedAt);
  });
}

function* checkAnswer(story: Story): Generator<Problem> {
  const { item, answer, surprise } = story;
  const taken = answer === "accepted" || answer === "unknown";
  if (!taken && hasHappened(story)) {
    yield problem("what is rolled back never happened", `${item} was ${answer}, and happened all the same`, item);
  }
  if (surprise !== null) yield problem("faults give no strange errors", `${item} was refused with ${surprise}`, item);
}

function* checkEnd(story: Story, rivals: readonly Story[]): Generator<Problem> {
  const { item, kind, answer, ran, deadLetters } = story;
  const { fate, key } = kindOf(kind);
  const owed = answer === "accepted" || (answer === "unknown" && hasHappened(story) && key === undefined);
  if (fate === "finished") {
    const [letter] = deadLetters;
    if (letter !== undefined && !isEarned(story)) {
      const how = `${item} (${kind}) is a dead letter after ${letter.attempts} attempts: ${letter.error}`;
      yield problem("dead letters are earned", how, item);
    } else if (owed && ran === 0 && letter === undefined && !isCovered(story, rivals)) {
      const nothing = key === undefined ? "it never ran" : `neither it nor a newer trigger of ${story.key} ran`;
      yield problem(LOST, `${item} (${kind}) was ${answer}, and ${nothing}`, item);
    }
  }
  if (fate === "dead letter") {
    if (owed && deadLetters.length === 0) {
      yield problem(LOST, `${item} (${kind}) was ${answer}, and is no dead letter`, item);
    }
    if (ran > 0) yield problem("failures stay failures", `${item} (${kind}) can't have run to its end`, item);
  }
  if (deadLetters.length > 1) {
    yield problem("a trigger is one hook", `${item} is ${deadLetters.length} dead letters`, item);
  }
}

function isEarned({ kind, deadLetters }: Story): boolean {
  return kindOf(kind).mayFailAtFirst === true && deadLetters.every(({ attempts }) => attempts === 1);
}

function* checkEffects(story: Story): Generator<Problem> {
  const { item, kind, answer, ran, rows, effects, began } = story;
  const { effect, row } = kindOf(kind);
  const promise = "effects in the database happen exactly once";
  if (effects > 1) yield problem(promise, `${item} (${kind}) has ${effects} effects`, item);
  if (effect && ran > 0 && effects === 0) yield problem(promise, `${item} (${kind}) ran without its effect`, item);
  if (!row) return;
  if (rows > 1) yield problem(promise, `${item} (${kind}) has ${rows} rows`, item);
  if (answer === "accepted" && rows === 0) yield problem(LOST, `the row of ${item} (${kind})`, item);
  if (rows === 0 && began.length > 0) {
    yield problem("a row and its trigger are one", `${item} (${kind}) ran, but its row isn't there`, item);
  }
}

function* checkAttempts({ item, kind, key, processAt, began }: Story): Generator<Problem> {
  const { fate, hook } = kindOf(kind);
  const most = fate === "dead letter" && hook !== "refuse" ? FEW_RETRIES.limit + 1 : Number.POSITIVE_INFINITY;
  const highest = Math.max(...began.map(({ attempt }) => attempt));
  if (highest > most) yield problem("attempts end", `${item} (${kind}) began attempt ${highest} of ${most}`, item);
  if (key === null && new Set(began.map(({ idempotencyKey }) => idempotencyKey)).size > 1) {
    yield problem("idempotency keys stay", `${item} (${kind}) ran under several idempotency keys`, item);
  }
  const early = began.find(({ time }) => processAt !== null && time < processAt - ROUNDING_MS);
  if (early !== undefined && processAt !== null) {
    yield problem("nothing runs before its time", `${item} began ${processAt - early.time} ms too early`, item);
  }
}

function problem(promise: string, details: string, ...items: string[]): Problem {
  return { promise, details, items };
}
