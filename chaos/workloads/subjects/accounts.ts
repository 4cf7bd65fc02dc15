import type { Entry } from "../../ledger.ts";
import type { Account, Problem } from "../../workload.ts";
import { KINDS } from "./pages.ts";

/** A subject of the workers, as the database has it at the end. */
export interface CollectedSubject {
  readonly subjectKey: string;
  readonly succeeded: boolean;
  readonly page: number;
}

interface Line extends Record<string, number> {
  accepted: number;
  unknown: number;
  "not taken": number;
  completed: number;
  pages: number;
  "pages again": number;
  takeovers: number;
  lost: number;
}

const LOST = "nothing accepted is lost";
const BACK = "progress that was acknowledged is never taken back";
const TWICE = "two owners never both succeed";
const STRANGE = "faults give no strange errors";

/** Compares the discovered subjects and the answers to owners with the final state. */
export function accountForSubjects(entries: readonly Entry[], collected: readonly CollectedSubject[]): Account {
  const table = Object.fromEntries([...KINDS, "script"].map((kind) => [kind, emptyLine()]));
  const problems: Problem[] = [];
  const inTheEnd = new Map(collected.map((one) => [one.subjectKey, one]));
  for (const [item, story] of groupByItem(entries)) {
    const asked = story.find(({ did }) => did === "asked");
    const line = table[(asked?.kind as string | undefined) ?? "script"] as Line;
    count(line, story);
    problems.push(...checkProgress(item, story), ...checkErrors(item, story));
    if (asked === undefined) continue;
    const lost = checkEnd(item, story, inTheEnd.get(item));
    if (lost !== null) line.lost++;
    problems.push(...(lost === null ? [] : [lost]));
  }
  return { table, problems };
}

function emptyLine(): Line {
  const pages = { pages: 0, "pages again": 0, takeovers: 0 };
  return { accepted: 0, unknown: 0, "not taken": 0, completed: 0, ...pages, lost: 0 };
}

function groupByItem(entries: readonly Entry[]): Map<string, Entry[]> {
  const stories = new Map<string, Entry[]>();
  for (const entry of entries) {
    const story = stories.get(entry.item) ?? [];
    stories.set(entry.item, story);
    story.push(entry);
  }
  return stories;
}

function count(line: Line, story: readonly Entry[]): void {
  const times = (...dids: string[]) => story.filter(({ did }) => dids.includes(did)).length;
  if (times("accepted") > 0) line.accepted++;
  else if (times("unknown") > 0) line.unknown++;
  else if (times("refused") > 0) line["not taken"]++;
  if (times("completed", "ended") > 0) line.completed++;
  const pages = story.filter(({ did }) => did === "stored").map(({ page }) => page);
  const begun = story.filter(({ did }) => did === "began");
  line.pages += pages.length;
  line["pages again"] += begun.length - new Set(begun.map(({ page }) => page)).size;
  line.takeovers += Math.max(new Set(begun.map(({ revision }) => revision)).size - 1, 0);
}

function checkEnd(item: string, story: readonly Entry[], end: CollectedSubject | undefined): Problem | null {
  const accepted = story.some(({ did }) => did === "accepted");
  if (end?.succeeded || (end === undefined && !accepted)) return null;
  const how = end === undefined ? "isn't there" : `is at page ${end.page}, and was never completed`;
  return { promise: LOST, details: `${item} was ${accepted ? "accepted" : "stored"}, and ${how}`, items: [item] };
}

/**
 * Revisions say what came first. An owner begins where an earlier one's last checkpoint was acknowledged, unless that one may
 * have completed the subject: then a sync may have reset it.
 */
function* checkProgress(item: string, story: readonly Entry[]): Generator<Problem> {
  const ordered = story
    .filter(({ did }) => ["claimed", "began", "stored", "ending"].includes(did))
    .toSorted((one, other) => (one.revision as number) - (other.revision as number) || one.at - other.at);
  let [furthest, owner] = [0, -1];
  for (const { did, page, revision } of ordered) {
    if (did === "ending") furthest = 0;
    else if (did === "stored") furthest = Math.max(furthest, page as number);
    else if (owner !== revision) {
      owner = revision as number;
      if ((page as number) < furthest) {
        const details = `${item} began at page ${page} (revision ${owner}), after page ${furthest} was acknowledged`;
        yield { promise: BACK, details, items: [item] };
      }
    }
  }
  const completions = story.filter(({ did }) => did === "completed");
  const revisions = story.filter(({ did }) => did === "ended").map(({ revision }) => revision);
  if (completions.length > 1 || new Set(revisions).size < revisions.length) {
    yield {
      promise: TWICE,
      details: `${item} was completed ${completions.length || revisions.length} times`,
      items: [item],
    };
  }
}

function* checkErrors(item: string, story: readonly Entry[]): Generator<Problem> {
  for (const { did, code, message } of story) {
    const strange = did === "refused" && !String(code).startsWith("store.");
    if (strange) yield { promise: STRANGE, details: `${item} was refused with ${message}`, items: [item] };
  }
}
