import { UNKNOWN_TAG } from "../../simulation/machines/older-process.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { encodeError } from "../../src/values/index.ts";
import { type Mutation, overriding } from "./rewriting.ts";

/** Protections of what waits for newer code, because only that can read its values. */
export const VERSION_MUTATIONS: readonly Mutation[] = [
  { name: "a value that can't be read fails its instance", options: { wrapInstances: failing } },
  { name: "a result that can't be read counts as none", options: { wrapInstances: withoutResults } },
  {
    name: "an instance whose values can't be read waits for no other process",
    options: { wrapInstances: holding },
    seed: 42,
  },
  { name: "status() says nothing of why an instance waits", options: { wrapInstances: withoutDueTimes }, seed: 14 },
];

function failing(statements: InstanceStatements): InstanceStatements {
  return postponing(statements, (commits, sending) => {
    const error = encodeError(new Error("A stored value can't be read."));
    const outcome = { kind: "errored", error, rollback: null } as const;
    return statements.commit(
      commits.map((commit) => ({ ...commit, outcome })),
      sending,
    );
  });
}

function withoutResults(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    load: async (runs) =>
      (await statements.load(runs)).map((loaded) => ({
        ...loaded,
        entries: loaded.entries.filter(({ value }) => value === null || !value.startsWith(UNKNOWN_TAG)),
      })),
  });
}

/** Its owner says that it has given it back, and hasn't. */
function holding(statements: InstanceStatements): InstanceStatements {
  return postponing(statements, async (commits) =>
    commits.map(() => ({ result: "written", at: 0, wakes: 0, paused: false })),
  );
}

/** Instead of what gives back instances whose values can't be read. */
function postponing(statements: InstanceStatements, instead: InstanceStatements["commit"]): InstanceStatements {
  const unreadable = new Set<string>();
  const look = <Row extends { readonly ref: string }>(rows: Row[]): Row[] => {
    for (const row of rows)
      if (JSON.stringify(row).includes(JSON.stringify(UNKNOWN_TAG).slice(1, -1))) unreadable.add(row.ref);
    return rows;
  };
  return overriding(statements, {
    claim: async (request) => look(await statements.claim(request)),
    admit: async (request) => look(await statements.admit(request)),
    load: async (runs) => look(await statements.load(runs)),
    loadEvents: async (requests) => look(await statements.loadEvents(requests)),
    commit: (commits, sending) => {
      const givesBack = commits.every(({ ref, outcome }) => unreadable.has(ref) && outcome.kind === "parked");
      return givesBack ? instead(commits, sending) : statements.commit(commits, sending);
    },
  });
}

function withoutDueTimes(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    find: async (names) => (await statements.find(names)).map((record) => record && { ...record, availableAt: null }),
  });
}
