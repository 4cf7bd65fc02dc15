import { ConflictError } from "../../src/errors.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { type Mutation, overriding } from "./rewriting.ts";

/** Protections of callers that write the same ids. */
export const OPPOSED_MUTATIONS: readonly Mutation[] = [
  { name: "a batch fails if another process has created one of its ids", options: { wrapInstances: refusing } },
  { name: "a batch is answered in the order of ids, not in its own", options: { wrapInstances: sorted } },
  { name: "a batch leaves out what follows an id that exists", options: { wrapEngine: stopping } },
  { name: "callers are told that they created what others did", options: { wrapInstances: boasting } },
];

function refusing(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    insert: async (inserts) => {
      const results = await statements.insert(inserts);
      if (inserts.length > 1 && results.some(({ result }) => result === "existing"))
        throw new ConflictError("instance.already_exists", "One of them exists.");
      return results;
    },
  });
}

/** Rows are locked in the order of ids, and the answers are given in that order too. */
function sorted(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    insert: (inserts) => statements.insert(inserts.toSorted((one, other) => (one.id < other.id ? -1 : 1))),
  });
}

function stopping(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    insert: async (inserts) => {
      const results = await statements.insert(inserts.slice(0, 1));
      if (inserts.length === 1) return results;
      const created = results[0]?.result === "created";
      const others = created
        ? await statements.insert(inserts.slice(1))
        : inserts.slice(1).map(() => ({ ...results[0] }));
      return [...results, ...others] as typeof results;
    },
  });
}

function boasting(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    insert: async (inserts) =>
      (await statements.insert(inserts)).map((result, index) => ({
        ...result,
        result: "created",
        ref: inserts[index]?.ref ?? result.ref,
      })),
  });
}
