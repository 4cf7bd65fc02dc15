import type { ClaimedInstance, InstanceOutcome } from "../../src/store/instances/instance-records.ts";
import type { LineLimits } from "../../src/store/lines/line-records.ts";
import type { TestEngine } from "./engines.ts";
import { COMPLETED, type InstancesUnderTest, useInstances } from "./use-instances.ts";

export const MINUTE = 60_000;

export const ids = (instances: readonly ClaimedInstance[]) => instances.map(({ id }) => id);

/** Instances that stand in a line of the test's own. */
export function useLines(engine: TestEngine) {
  const test: InstancesUnderTest = useInstances(engine);
  const key = () => `${test.namespace}/checkout`;
  const slot = () => ({ slotKey: key() });
  const rate = () => ({ rateKey: key() });
  const joinAll = async (...names: string[]) => {
    for (const name of names) await test.join(name, slot());
  };
  const end = (instance: ClaimedInstance, outcome: InstanceOutcome = COMPLETED) =>
    test.commit(instance, outcome, { limited: true });
  const one = async (limits: Partial<LineLimits>) => {
    const admitted = await test.admit(limits);
    if (admitted.length !== 1) throw new Error(`Expected to admit one instance, got ${ids(admitted)}.`);
    return admitted[0] as ClaimedInstance;
  };
  return { fixture: test, key, slot, rate, joinAll, end, one };
}
