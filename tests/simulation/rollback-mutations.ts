import type { InstanceHistory, JournalEntry } from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { type Mutation, overriding, rewriting } from "./rewriting.ts";

const ROLL_BACK = /^update perdure_instance set\s+rolling_back = iif/;

/** Protections of rollbacks. */
export const ROLLBACK_MUTATIONS: readonly Mutation[] = [
  { name: "rollbacks begin before the failure is stored", options: { wrapInstances: withoutFailure } },
  { name: "rollbacks that are stored run again", options: { wrapInstances: withoutRollbacks } },
  {
    name: "the process that takes over rolls back the first step first",
    options: { wrapInstances: inOrderOfBeginnings },
  },
  { name: "the process that takes over knows of no rollback", options: { wrapInstances: goingOn } },
  { name: "steps that have begun aren't known to", options: { wrapInstances: withoutBeginnings } },
  rewriting("terminating with a rollback leaves it to its owner", [
    [ROLL_BACK, "lock = null, recoveries", "recoveries"],
  ]),
];

/** The failure is said to be written, and isn't. */
function withoutFailure(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    commit: async (commits, sending) => {
      if (commits.every(({ outcome }) => outcome.kind !== "rollingBack")) return statements.commit(commits, sending);
      return commits.map(() => ({ result: "written", at: 0, wakes: 0, paused: false }));
    },
  });
}

function withoutRollbacks(statements: InstanceStatements): InstanceStatements {
  return loading(statements, (entries) =>
    entries.map((entry) => (entry.kind === "rolledBack" ? { ...entry, kind: "rollbackStarted" } : entry)),
  );
}

function inOrderOfBeginnings(statements: InstanceStatements): InstanceStatements {
  return loading(statements, (entries) => {
    const reversed = entries.filter(({ kind }) => kind === "undoable").reverse();
    return entries.map((entry) => {
      if (entry.kind !== "undoable") return entry;
      const { type, name, count } = reversed.shift() as JournalEntry;
      return { ...entry, type, name, count };
    });
  });
}

function withoutBeginnings(statements: InstanceStatements): InstanceStatements {
  return loading(statements, (entries) =>
    entries.map((entry) => (entry.kind === "undoable" ? { ...entry, kind: "started" } : entry)),
  );
}

function goingOn(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    claim: async (request) => (await statements.claim(request)).map((instance) => ({ ...instance, rollingBack: null })),
  });
}

/** The journal as the process that takes over finds it. */
function loading(
  statements: InstanceStatements,
  change: (entries: readonly JournalEntry[]) => JournalEntry[],
): InstanceStatements {
  const changed = (history: InstanceHistory): InstanceHistory => ({ ...history, entries: change(history.entries) });
  return overriding(statements, { load: async (runs) => (await statements.load(runs)).map(changed) });
}
