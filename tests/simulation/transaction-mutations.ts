import type { EngineTransaction } from "../../src/store/engine.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { type Mutation, overriding } from "./rewriting.ts";

/** After which there are no events. */
const LAST_SEQUENCE = 2_147_483_647;

/** Protections of transactions in steps. */
export const TRANSACTION_MUTATIONS: readonly Mutation[] = [
  {
    name: "a step's transaction ignores the position of its entry",
    options: {
      wrapTransaction: atAnyPosition,
      profile: {
        processes: 4,
        concurrency: 4,
        leaseMs: 6000,
        sameMachine: false,
        longestPauseMs: 20_000,
        faultRate: 0.3,
      },
    },
    seed: 16,
  },
  { name: "a step's transaction ignores who owns the instance", options: { wrapTransaction: forAnyOwner } },
  { name: "owners don't read whether a transaction was committed", options: { wrapInstances: withoutRead } },
];

/** Its entry goes where there is room. */
function atAnyPosition(
  transaction: EngineTransaction,
  read: (text: string) => Record<string, unknown>[],
): EngineTransaction {
  return {
    ...transaction,
    commitInstance: (commit) => {
      const { ref, run } = commit;
      const [row] = read(`select max(position) as last from perdure_journal where ref = '${ref}' and run = ${run}`);
      return transaction.commitInstance({ ...commit, position: Number(row?.last ?? 0) + 1 });
    },
  };
}

/** It has the token of the present owner of the instance. */
function forAnyOwner(
  transaction: EngineTransaction,
  read: (text: string) => Record<string, unknown>[],
): EngineTransaction {
  return {
    ...transaction,
    commitInstance: (commit) => {
      const [row] = read(`select lock from perdure_instance where ref = '${commit.ref}'`);
      return transaction.commitInstance({ ...commit, lock: (row?.lock ?? commit.lock) as string });
    },
  };
}

/** Only an owner that looks for its commit wants no events. */
function withoutRead(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    load: async (runs) => {
      const histories = await statements.load(runs);
      const looks = runs.some(({ after }) => after?.sequence === LAST_SEQUENCE);
      return looks ? histories.map((history) => ({ ...history, entries: [] })) : histories;
    },
  });
}
