import { UNDECIDED_VERSION } from "../../../store/instances/instance-records.ts";
import type { RegisteredWorkflow } from "../../define/registered-workflows.ts";
import { toVersion } from "../../define/version.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import type { VersionSummary } from "../workflow-binding.ts";

/** How many unfinished instances of each workflow, the oldest ones, a report of missing versions reads. */
const MOST_READ = 500;
/** How many versions a report names. */
const MOST_NAMED = 20;

/** The versions that this process has, and those that unfinished instances are on. Of a workflow without code, these alone. */
export async function listVersions(runtime: WorkflowRuntime, workflow: RegisteredWorkflow): Promise<VersionSummary[]> {
  const { name, versions } = workflow;
  const { statements } = runtime.store.instances;
  const found = await statements.unfinishedVersions({ namespace: runtime.namespace, names: [name] }, null);
  const counts = new Map(versions.map(({ version }) => [version, 0]));
  for (const { version, count } of found) counts.set(version, count);
  counts.delete(UNDECIDED_VERSION);
  return [...counts]
    .sort(([one], [other]) => other - one)
    .map(([version, unfinished]) => ({
      version: toVersion(version),
      unfinished,
      registered: versions.some((one) => one.version === version),
    }));
}

/** A version that a process lacks. */
export interface MissingVersion extends Omit<VersionSummary, "registered"> {
  readonly workflow: string;
}

/**
 * Versions that unfinished instances of registered workflows are on, and that this process lacks. Reads the oldest instances
 * only.
 */
export async function findMissingVersions({ namespace, workflows, store }: WorkflowRuntime): Promise<MissingVersion[]> {
  if (workflows.names.length === 0) return [];
  const scope = { namespace, names: workflows.names };
  const found = await store.instances.statements.unfinishedVersions(scope, MOST_READ);
  return found
    .filter(({ name, version }) => version !== UNDECIDED_VERSION && !workflows.versionsOf(name).includes(version))
    .slice(0, MOST_NAMED)
    .map(({ name, version, count }) => ({ workflow: name, version: toVersion(version), unfinished: count }));
}
