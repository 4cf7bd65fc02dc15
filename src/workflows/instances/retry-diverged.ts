import type { WorkflowRuntime } from "../workflow-runtime.ts";

/** The others are tried within a minute. */
const MOST_RETRIED = 100;
const ANY_TIME = { createdFrom: null, createdBefore: null, finishedFrom: null, finishedBefore: null };

/** A process has started, perhaps with the code that held instances wait for: makes the oldest of them due. */
export async function retryDiverged({ namespace, workflows, store }: WorkflowRuntime): Promise<void> {
  const stopping = workflows.all.filter(({ versions }) => versions.some(({ onDivergence }) => onDivergence === "stop"));
  if (stopping.length === 0) return;
  const { statements } = store.instances;
  const filter = { namespace, name: null, statuses: ["diverged"] as const, labels: [], ...ANY_TIME };
  const held = await statements.list({ ...filter, after: null, order: "oldest", limit: MOST_RETRIED });
  const known = held.filter((instance) => stopping.some(({ name }) => name === instance.name));
  const resume = ({ name, id, ref, run }: (typeof known)[number]) =>
    statements.resume({ namespace, name, id, only: { ref, run } });
  await Promise.all(known.map(resume));
  if (known.length > 0) store.work.post({ namespace, delayMs: 0 });
}
