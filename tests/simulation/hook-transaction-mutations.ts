import type { EngineTransaction } from "../../src/store/engine.ts";
import type { HookLease } from "../../src/store/hooks/hook-records.ts";
import type { HookStatements } from "../../src/store/hooks/hook-statements.ts";
import type { Mutation } from "./rewriting.ts";

/** Protections of the transactions that complete hooks. */
export const HOOK_TRANSACTION_MUTATIONS: readonly Mutation[] = [
  {
    name: "a hook's transaction ignores who owns the hook",
    options: { wrapTransaction: forAnyOwner, profile: { faultRate: 0.3, leaseMs: 6000 } },
    seed: 138,
  },
  {
    name: "owners take a hook's commit for undone instead of reading whether it was written",
    options: { wrapHooks: (hooks) => answering(hooks, (leases) => leases) },
    seed: 28,
  },
  {
    name: "owners take a hook's commit for written instead of reading whether it was",
    options: { wrapHooks: (hooks) => answering(hooks, () => []) },
  },
];

/** It has the token of the present owner of the hook. */
function forAnyOwner(
  transaction: EngineTransaction,
  read: (text: string) => Record<string, unknown>[],
): EngineTransaction {
  return {
    ...transaction,
    settleHooks: (settlements) =>
      transaction.settleHooks(
        settlements.map((settlement) => {
          const [row] = read(`select lock from perdure_hook where id = '${settlement.id}'`);
          return { ...settlement, lock: (row?.lock ?? settlement.lock) as string };
        }),
      ),
  };
}

/** Only an owner that looks for its commit asks for a token that it was given: the others are those of lost claims. */
function answering(statements: HookStatements, answer: (leases: HookLease[]) => HookLease[]): HookStatements {
  const leases = new Map<string, HookLease[]>();
  const note = (lease: HookLease) => leases.set(lease.lock, [...(leases.get(lease.lock) ?? []), lease]);
  return {
    ...statements,
    claim: async (request) => {
      const claimed = await statements.claim(request);
      for (const { namespace, id, lock } of claimed) note({ namespace, id, lock });
      return claimed;
    },
    insert: (inserts) => {
      for (const { namespace, id, lease } of inserts) if (lease !== null) note({ namespace, id, lock: lease.lock });
      return statements.insert(inserts);
    },
    findLeased: (namespaces, locks) => {
      const known = locks.flatMap((lock) => leases.get(lock) ?? []);
      return known.length > 0 ? Promise.resolve(answer(known)) : statements.findLeased(namespaces, locks);
    },
  };
}
