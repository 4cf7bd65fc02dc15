import { NAMESPACE } from "../../simulation/names.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { endingTrigger } from "../../src/workflows/define/terminal-hooks.ts";
import { type Mutation, overriding } from "./rewriting.ts";

/** Protections of the hooks that tell of a run's end. */
export const ENDING_MUTATIONS: readonly Mutation[] = [
  { name: "the hook of an end isn't written with it", options: { wrapEngine: withoutHooks } },
  { name: "who commits an end forgets its hook", options: { wrapInstances: withoutHooks } },
  {
    name: "terminating tells no owner",
    options: {
      wrapEngine: (statements) => overriding(statements, { terminate: (name) => statements.terminate(name) }),
    },
  },
  { name: "a run that goes on is said to have ended", options: { wrapInstances: tooEarly } },
];

function withoutHooks(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    commit: (commits, sending) =>
      statements.commit(
        commits.map(({ hook: _, ...commit }) => commit),
        sending,
      ),
  });
}

function tooEarly(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    commit: (commits, sending) => {
      const early = commits.map((commit) => {
        const { ref: id, run, outcome, position } = commit;
        if (outcome.kind !== "parked") return commit;
        const ended = { namespace: NAMESPACE, name: "sleeping", id, run };
        return { ...commit, hook: endingTrigger(ended, "terminated", null, () => `early-${id}-${position}`) };
      });
      return statements.commit(early, sending);
    },
  });
}
