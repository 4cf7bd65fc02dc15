import type { SubjectStatements } from "../../src/store/subjects/subject-statements.ts";
import type { SubjectBook } from "../subjects/subject-book.ts";
import type { Wire } from "./wire.ts";

/** Whose statements these are, and the book that records what was committed. */
export interface SubjectWitness {
  readonly book: SubjectBook;
  readonly process: string;
}

/** The statements of one process about subjects: each goes over the wire, and into the book if it is committed. */
export function createSubjectStatements(
  wire: Wire,
  subjects: SubjectStatements,
  witness?: SubjectWitness,
): SubjectStatements {
  return {
    sync: (batch) =>
      wire.call(
        `sync ${batch.subjects.length} subjects`,
        () => subjects.sync(batch),
        () => witness?.book.synced(batch),
      ),
    retire: (scope, keys) =>
      wire.call(
        `retire all but ${keys.length}`,
        () => subjects.retire(scope, keys),
        () => witness?.book.compare(),
      ),
    claim: (claim) =>
      wire.call(
        `claim subjects for ${claim.owner}`,
        () => subjects.claim(claim),
        ({ subjects: claimed }) => witness?.book.claimed(witness.process, claimed),
      ),
    change: (changes, sending) =>
      wire.call(
        changes.map(({ kind, subjectKey, revision }) => `${kind} ${subjectKey} at ${revision}`).join(", "),
        () => subjects.change(changes, sending),
        (results) => witness?.book.changed(witness.process, changes, results),
      ),
    renew: (held, leaseMs) =>
      wire.call(
        `renew ${held.map(({ subjectKey, revision }) => `${subjectKey} at ${revision}`).join(", ")}`,
        () => subjects.renew(held, leaseMs),
        (results) => witness?.book.renewed(witness.process, held, results, leaseMs),
      ),
    nextWake: (scope) => wire.call("next subject wake", () => subjects.nextWake(scope)),
    time: () => wire.call("time", () => subjects.time()),
    find: (names) => wire.call("find subjects", () => subjects.find(names)),
    list: (filter) => wire.call("list subjects", () => subjects.list(filter)),
  };
}
