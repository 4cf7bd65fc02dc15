import type { InstanceName } from "../../store/instances/instance-records.ts";
import type { ExecutionHost } from "./execution-host.ts";
import type { RunJournal } from "./run-journal.ts";
import { describeStep } from "./step-path.ts";

/** Says which steps a run had before that its code, now, didn't call. */
export function tellOfUnreached(journal: RunJournal, { name, id }: InstanceName, host: ExecutionHost): void {
  const unreached = journal.unreached();
  if (unreached.length === 0) return;
  host.warn("Steps that had run before were not reached by this code. If one was renamed, give it an alias.", {
    workflow: name,
    instance: id,
    steps: unreached.slice(0, 20).map(describeStep),
  });
}
