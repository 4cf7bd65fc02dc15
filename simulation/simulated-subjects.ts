import type { SubjectStatements } from "../src/store/subject-statements.ts";
import type { Wire } from "./wire.ts";

/** The statements of one process about subjects: each goes over the wire. */
export function createSubjectStatements(wire: Wire, subjects: SubjectStatements): SubjectStatements {
  return {
    sync: (batch) => wire.call(`sync ${batch.subjects.length} subjects`, () => subjects.sync(batch)),
    retire: (scope, keys) => wire.call("retire subjects", () => subjects.retire(scope, keys)),
    claim: (claim) => wire.call(`claim subjects for ${claim.owner}`, () => subjects.claim(claim)),
    change: (changes, sending) =>
      wire.call(
        changes.map(({ kind, subjectKey, revision }) => `${kind} ${subjectKey} at ${revision}`).join(", "),
        () => subjects.change(changes, sending),
      ),
    renew: (held, leaseMs) => wire.call(`renew ${held.length} subjects`, () => subjects.renew(held, leaseMs)),
    nextWake: (scope) => wire.call("next subject wake", () => subjects.nextWake(scope)),
    time: () => wire.call("time", () => subjects.time()),
    find: (names) => wire.call("find subjects", () => subjects.find(names)),
    list: (filter) => wire.call("list subjects", () => subjects.list(filter)),
  };
}
