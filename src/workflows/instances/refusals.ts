import { ConflictError } from "../../errors.ts";
import type { InstanceName } from "../../store/instances/instance-records.ts";

/** The errors for what an instance's state doesn't allow. */
export function finishedAlready({ name, id }: InstanceName, consequence: string): ConflictError {
  return new ConflictError("instance.finished", `The instance "${id}" of "${name}" is finished: ${consequence}.`);
}

export function tooManyEvents({ name, id }: InstanceName, most: number): ConflictError {
  return new ConflictError(
    "event.too_many",
    `The instance "${id}" of "${name}" has ${most} events that it hasn't received yet, and takes no more until it has. ` +
      "Send it again later, or raise workflowLimits.pendingEvents.",
  );
}

/** It isn't in the run that was meant. */
export function runChanged({ name, id }: InstanceName): ConflictError {
  return new ConflictError(
    "instance.run_changed",
    `The instance "${id}" of "${name}" was restarted or created again since: nothing was done to it.`,
  );
}
