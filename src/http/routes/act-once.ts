import type { InstanceRun } from "../../store/instances/instance-records.ts";
import type { InstanceHandle } from "../../workflows/instances/instance-handle.ts";
import type { Call } from "../route.ts";

type InstanceCall = Pick<
  Call<{ readonly workflowName: string; readonly instanceId: string }>,
  "host" | "params" | "repeatable"
>;

/** Does something to an instance. A request that may be repeated does it to the run that it first met, and once. */
export async function actOnce(
  { host, params, repeatable }: InstanceCall,
  act: (instance: InstanceHandle) => Promise<void>,
): Promise<void> {
  if (repeatable === null) {
    await act(host.instance(params));
    return;
  }
  const perform = async (only?: InstanceRun) => {
    await act(host.instance(params, only));
    return null;
  };
  await repeatable.once({ find: () => host.findRun(params), perform, refuse: () => perform() });
}
