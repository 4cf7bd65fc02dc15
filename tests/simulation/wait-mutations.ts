import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { type Mutation, overriding } from "./rewriting.ts";

/** Protections of waits: late answers, and drains that are shorter than they. */
export const WAIT_MUTATIONS: readonly Mutation[] = [
  { name: "what a late answer tells is taken for the present", options: { wrapInstances: withOldTimes } },
  {
    name: "the deadlines of waits are forgotten when an instance is given back",
    options: { wrapInstances: forgetful },
  },
];

/** As if all answers had been on their way for three seconds when they were asked for. */
function withOldTimes(statements: InstanceStatements): InstanceStatements {
  const old = (at: number) => at - 3000;
  return overriding(statements, {
    claim: async (request) =>
      (await statements.claim(request)).map((instance) => ({ ...instance, claimedAt: old(instance.claimedAt) })),
    commit: async (commits, sending) =>
      (await statements.commit(commits, sending)).map((answer) =>
        answer.result === "written" ? { ...answer, at: old(answer.at) } : answer,
      ),
  });
}

function forgetful(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    commit: (commits, sending) =>
      statements.commit(
        commits.map((commit) => {
          if (commit.outcome.kind === "running") return commit;
          return { ...commit, entries: commit.entries.filter(({ kind }) => kind !== "waiting") };
        }),
        sending,
      ),
  });
}
