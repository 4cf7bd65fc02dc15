import { checkText } from "../hooks/names.ts";
import { checkOptions } from "../options.ts";
import { checkSubjectKey, checkTime, type DiscoveredSubject, invalid, type SyncReport } from "./subject-inputs.ts";
import type { SubjectLedger } from "./subject-ledger.ts";

/** Discovered subjects: all at once, or one after the other. */
export type Discovered<Cursor = unknown, Meta = unknown> =
  | Iterable<DiscoveredSubject<Cursor, Meta>>
  | AsyncIterable<DiscoveredSubject<Cursor, Meta>>;

const FIELDS = ["subjectKey", "cursor", "meta", "nextDueAt", "group"];
/** Of what comes bit by bit so many are kept in memory. */
const PART = 5000;

/**
 * Writes what was discovered, and gives how many there were. An array is checked as a whole before anything is written; what
 * comes bit by bit is written part by part, and within a part no key may be there twice.
 */
export async function syncDiscovered(
  ledger: SubjectLedger,
  discovered: Discovered,
  { retire, keepProgress }: { retire: boolean; keepProgress: boolean },
): Promise<SyncReport & { discovered: number }> {
  let [count, created, refreshed] = [0, 0, 0];
  const mostInPart = Array.isArray(discovered) ? Number.POSITIVE_INFINITY : PART;
  let part = new Map<string, DiscoveredSubject>();
  const keys: string[] = [];
  const flush = async () => {
    const subjects = [...part.values()];
    part = new Map();
    const rows = await Promise.all(
      subjects.map((subject) => ledger.encodeDiscovered(subject, checkTime(subject.nextDueAt, "nextDueAt"))),
    );
    const counts = await ledger.sync(rows, keepProgress);
    created += counts.created;
    refreshed += counts.refreshed;
  };
  const add = async (subject: unknown) => {
    const checked = checkDiscovered(subject);
    if (part.has(checked.subjectKey)) throw invalid(`The subject "${checked.subjectKey}" appears twice`);
    part.set(checked.subjectKey, checked);
    count++;
    if (retire) keys.push(checked.subjectKey);
    if (part.size === mostInPart) await flush();
  };
  // `for await` over an array would wait for promises in it, which are mistakes.
  if (Symbol.iterator in discovered) for (const subject of discovered) await add(subject);
  else for await (const subject of discovered) await add(subject);
  if (part.size > 0) await flush();
  const retired = retire ? await ledger.retire(keys) : 0;
  return { discovered: count, created, refreshed, retired };
}

function checkDiscovered(subject: unknown): DiscoveredSubject {
  checkOptions(subject, { label: "A subject", fields: FIELDS, code: "subject.invalid" });
  const { subjectKey, group } = subject as DiscoveredSubject;
  checkSubjectKey(subjectKey);
  if (group !== undefined && group !== null) checkText(group, "A group");
  return subject as DiscoveredSubject;
}
