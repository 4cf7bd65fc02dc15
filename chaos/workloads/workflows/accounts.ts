import type { Entry } from "../../ledger.ts";
import type { Account, Problem } from "../../workload.ts";
import { checkJournal, countDoubled } from "./check-journal.ts";
import { EVENTS, EXPECTED_ERROR, KINDS, type KindName, kindOf } from "./kinds.ts";
import { LOST, problem } from "./problem.ts";
import { type Collected, type Story, tellStories } from "./stories.ts";

const COLUMNS = [
  "accepted",
  "unknown",
  "unknown but done",
  "not taken",
  "complete",
  "errored",
  "terminated",
  "runs",
  "steps",
  "bodies again",
  "doubled entries",
  "events",
  "effects",
  "lost",
] as const;
type Line = Record<(typeof COLUMNS)[number], number>;

/** Compares the answers to producers with what bodies did and with what the database has. */
export function accountForWorkflows(entries: readonly Entry[], collected: Collected): Account {
  const { stories, unasked } = tellStories(entries, collected);
  const problems: Problem[] = unasked.map((item) =>
    problem("nothing appears by itself", `${item} was never asked for`, item),
  );
  const table = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, emptyLine()])) as Record<KindName, Line>;
  for (const story of stories.values()) {
    const found = [...checkAnswer(story), ...checkEnd(story), ...checkRuns(story), ...checkOutput(story)];
    found.push(...checkJournal(story));
    count(table[story.kind], story, found);
    problems.push(...found);
  }
  return { table, problems };
}

function emptyLine(): Line {
  return Object.fromEntries(COLUMNS.map((column) => [column, 0])) as Line;
}

function count(line: Line, story: Story, problems: readonly Problem[]): void {
  const { answer, instance, bodies, effects } = story;
  if (answer === "accepted") line.accepted++;
  if (answer === "unknown") line.unknown++;
  if (answer === "unknown" && instance !== null) line["unknown but done"]++;
  if (answer === "refused") line["not taken"]++;
  if (problems.some(({ promise }) => promise === LOST)) line.lost++;
  line.effects += effects.length;
  if (instance === null) return;
  const { status, run, entries } = instance;
  if (status === "complete" || status === "errored" || status === "terminated") line[status]++;
  line.runs += run;
  const ended = entries.filter(({ type, kind }) => type === "do" && (kind === "completed" || kind === "failed"));
  line.steps += ended.filter(({ kind }) => kind === "completed").length;
  line["bodies again"] += Math.max(bodies.length - ended.length, 0);
  line["doubled entries"] += countDoubled(entries);
  line.events += entries.filter(({ kind }) => kind === "received").length;
}

function* checkAnswer({ item, answer, instance, bodies, surprise }: Story): Generator<Problem> {
  if (answer === "refused" && (instance !== null || bodies.length > 0)) {
    yield problem("what is refused never happened", `${item} was refused, and is there all the same`, item);
  }
  if (surprise !== null) yield problem("faults give no strange errors", `${item}: ${surprise}`, item);
}

function* checkEnd(story: Story): Generator<Problem> {
  const { item, kind, answer, instance, operations, bodies } = story;
  if (instance === null) {
    if (answer === "accepted" || bodies.length > 0) yield problem(LOST, `${item} (${kind}) isn't there`, item);
    return;
  }
  const { status, error } = instance;
  const expected = expectedEnds(story);
  if (expected.includes(status)) {
    const message = kind === "refused" || kind === "exhausted" ? EXPECTED_ERROR[kind] : null;
    if (message === null || isEarned(story, message)) return;
    yield problem("errors are earned", `${item} (${kind}) failed with "${error}"`, item);
  } else if (status === "errored") {
    yield problem("errors are earned", `${item} (${kind}) failed with "${error}"`, item);
  } else if (status === "terminated") {
    yield problem("no instance is terminated unasked", `${item} (${kind}) was terminated`, item);
  } else if (status === "complete") {
    const done = operations.map(({ operation }) => operation).join(", ");
    yield problem("what ends, ends as it must", `${item} (${kind}) is complete after ${done || "failing"}`, item);
  } else {
    yield problem(LOST, `${item} (${kind}) was ${answer}, and is ${status}`, item);
  }
}

function expectedEnds({ kind, operations }: Story): readonly string[] {
  const { fate } = kindOf(kind);
  if (fate !== "terminated") return [fate];
  const terminations = operations.filter(({ operation }) => operation === "terminate");
  if (terminations.some(({ answer }) => answer === "done")) return ["terminated"];
  return terminations.some(({ answer }) => answer === "unknown") ? ["terminated", "complete"] : ["complete"];
}

/** Lost processes may also use up the few attempts. */
function isEarned({ kind, instance }: Story, message: string): boolean {
  if (instance?.error?.includes(message)) return true;
  return kind === "exhausted" && instance?.error?.includes("was lost with its process") === true;
}

function* checkRuns({ item, instance, operations }: Story): Generator<Problem> {
  if (instance === null) return;
  const restarts = operations.filter(({ operation }) => operation === "restart");
  const least = 1 + restarts.filter(({ answer }) => answer === "done").length;
  if (instance.run < least) yield problem(LOST, `a restart of ${item}, which is in run ${instance.run}`, item);
  if (instance.run > 1 + restarts.length) {
    yield problem("a restart is one", `${item} is in run ${instance.run}`, item);
  }
}

/** The code received exactly what is stored, and everything that was sent. */
function* checkOutput({ item, kind, instance, bodies, effects }: Story): Generator<Problem> {
  if (instance?.status !== "complete" || instance.output === undefined) return;
  const { run, output, entries } = instance;
  const stored = Object.fromEntries(
    entries.flatMap((entry) =>
      entry.run === run && entry.type === "do" && entry.kind === "completed" ? [[entry.name, entry.output]] : [],
    ),
  );
  const { program } = kindOf(kind);
  for (const step of new Set([...Object.keys(stored), ...Object.keys(output.seen)])) {
    // A race can end before the slower of the two, whose result its code never received.
    const raced = step === "hare" || step === "tortoise";
    if (stored[step] === output.seen[step] || (raced && (stored[step] ?? output.seen[step]) === stored[step])) continue;
    const details = `${item} (${kind}) saw ${output.seen[step]} of "${step}", and ${stored[step]} is stored`;
    yield problem("what the code saw is what is stored", details, item);
  }
  if (program === "listener") {
    const received = run === 1 ? output.events : output.events.toSorted();
    if (received.join() !== EVENTS.join()) {
      yield problem(
        "events arrive once, in order",
        `${item} (${kind}) received ${output.events.join() || "none"}`,
        item,
      );
    }
  }
  for (const { key, step } of bodies.filter((body) => body.run === run)) {
    const done = step === "effect" || (step === "right" && program === "parallel");
    if (done && !effects.includes(key)) {
      yield problem("what a step has done is there", `${item} (${kind}) has no effect of "${step}"`, item);
      return;
    }
  }
}
