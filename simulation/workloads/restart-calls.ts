import { type InstanceAccount, runOf } from "../books/instance-account.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { answered, handleOf } from "./instance-calls.ts";

/** Restarts it from some step that it has, or that it had a moment ago. */
export async function restartFromStep(process: SimulatedProcess, account: InstanceAccount): Promise<void> {
  const { world } = process.surroundings;
  const { name, id } = account;
  const steps = runOf(account).journal.filter(
    ({ parent, type }) => parent === null && type !== "create" && type !== "rollback",
  );
  const nothing = { name: "nothing", count: 1, type: "do" } as const;
  const { name: step, count, type } = steps.length === 0 ? nothing : world.random.pick(steps);
  world.note(process.name, `restarts ${name} ${id} from ${step}#${count}`);
  await answered(process, { answer: "asked" }, "restart from a step", () =>
    handleOf(process, name, id).restart({ from: { name: step, count, type: type as "do" } }),
  );
}

/** Tries the failed steps of a run again. */
export async function retryFailedStep(process: SimulatedProcess, { name, id }: InstanceAccount): Promise<void> {
  process.surroundings.world.note(process.name, `tries the failed steps of ${name} ${id} again`);
  await answered(process, { answer: "asked" }, "retry failed steps", () =>
    handleOf(process, name, id).retryFailedStep(),
  );
}
