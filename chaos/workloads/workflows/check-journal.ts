import type { HistoryItem } from "../../../src/index.ts";
import type { Problem } from "../../workload.ts";
import { problem } from "./problem.ts";
import type { Body, Claim, Story } from "./stories.ts";

/** Times are rounded to milliseconds, and are those of two clocks of one machine. */
const ROUNDING_MS = 20;
/**
 * A commit has the time at which it began. Until it is visible, which takes a busy server a while, a worker that has just taken
 * the instance over may begin what it contains.
 */
const COMMIT_MS = 1500;
/** The same for a claim, which is one row and quick. */
const CLAIM_MS = 500;

/** The journal must be possible, and agree with what bodies recorded themselves. */
export function* checkJournal(story: Story): Generator<Problem> {
  if (story.instance === null) return;
  yield* checkPositions(story, story.instance.entries);
  yield* checkEvents(story, story.instance.entries);
  yield* checkFences(story);
  for (const entry of story.instance.entries) {
    if (entry.type === "do" && entry.kind === "completed") yield* checkCompleted(story, entry);
  }
}

/** How many endings there are besides the first of their step. */
export function countDoubled(entries: readonly HistoryItem[]): number {
  const ends = entries.filter(isEnd).map(keyOf);
  return ends.length - new Set(ends).size;
}

function* checkPositions({ item, kind }: Story, entries: readonly HistoryItem[]): Generator<Problem> {
  const last = new Map<number, number>();
  for (const { run, position } of entries) {
    if (position !== (last.get(run) ?? 0) + 1) {
      yield problem("journals have no gaps", `${item} (${kind}) has no entry before ${run}/${position}`, item);
    }
    last.set(run, position);
  }
  const doubled = countDoubled(entries);
  if (doubled > 0) yield problem("a step ends once", `${item} (${kind}) has ${doubled} doubled endings`, item);
}

function* checkEvents({ item, kind }: Story, entries: readonly HistoryItem[]): Generator<Problem> {
  const received = entries.flatMap(({ run, event }) => (event === undefined ? [] : [`${run}/${event.payload}`]));
  if (new Set(received).size < received.length) {
    yield problem("events arrive once, in order", `${item} (${kind}) received ${received.join(", ")}`, item);
  }
}

/** The owner of a terminated or restarted run writes nothing more. */
function* checkFences({ item, kind, instance }: Story): Generator<Problem> {
  if (instance === null) return;
  const { status, run, startedAt, finishedAt, entries } = instance;
  for (const entry of entries) {
    const over = entry.run < run ? startedAt : status === "terminated" ? finishedAt : null;
    if (over !== null && entry.at.getTime() > over + ROUNDING_MS) {
      const late = `${item} (${kind}) went on with "${entry.name}" ${entry.at.getTime() - over} ms after its end`;
      yield problem("a former owner of an instance is refused", late, item);
    }
  }
}

function* checkCompleted(
  { item, kind, claims, bodies }: Story,
  { run, name, at, output }: HistoryItem,
): Generator<Problem> {
  const committedAt = at.getTime();
  const own = bodies.filter((body) => body.run === run && body.step === name);
  const winner = own.find(({ token }) => token === output);
  if (winner === undefined) {
    yield problem(
      "results come from bodies",
      `${item} (${kind}) has a result of "${name}" that no body returned`,
      item,
    );
    return;
  }
  if (new Set(own.map(({ key }) => key)).size > 1) {
    yield problem("idempotency keys stay", `"${name}" of ${item} (${kind}) ran under several keys`, item);
  }
  const again = own.find(({ time }) => time > committedAt + COMMIT_MS);
  if (again !== undefined) {
    const details = `"${name}" of ${item} (${kind}) began ${again.time - committedAt} ms after its result was committed`;
    yield problem("a committed step never runs again", details, item);
  }
  const successor = own.find((body) => isSuccessor(body, winner, committedAt));
  if (successor !== undefined) {
    const details = `"${name}" of ${item} (${kind}) had begun elsewhere ${committedAt - successor.time} ms before its result came`;
    yield problem("a former owner of an instance is refused", details, item);
  }
  const owner = claims.find((claim) => claim.run === run && isTakeover(claim, winner, committedAt));
  if (owner !== undefined) {
    const details = `"${name}" of ${item} (${kind}) was taken over ${committedAt - owner.time} ms before its result came`;
    yield problem("a former owner of an instance is refused", details, item);
  }
}

/** Another process had the instance when the result was written. */
function isTakeover({ process, time }: Claim, winner: Body, committedAt: number): boolean {
  return process !== winner.process && time > winner.time + ROUNDING_MS && time < committedAt - CLAIM_MS;
}

/**
 * Bodies that began after the one whose result was stored, and before it was stored: another worker owned the instance then.
 */
function isSuccessor({ token, time }: Body, winner: Body, committedAt: number): boolean {
  return token !== winner.token && time > winner.time + ROUNDING_MS && time < committedAt - ROUNDING_MS;
}

function isEnd({ kind, dueAt }: HistoryItem): boolean {
  return (
    kind === "completed" || kind === "received" || kind === "timedOut" || (kind === "failed" && dueAt === undefined)
  );
}

function keyOf({ run, type, name, count }: HistoryItem): string {
  return `${run}/${type}:${name}#${count}`;
}
