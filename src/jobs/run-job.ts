import { pause } from "../clock.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { JOB_LEASE_MS, JobSlice, SLICE_MS } from "./job-slice.ts";

/** Runs a job for one turn. Returns false if the job isn't due. */
export async function runSlice(runtime: WorkflowRuntime, id: string): Promise<boolean> {
  const { clock, engine, createId } = runtime.store;
  const askedAt = clock.monotonic();
  const claim = { namespace: runtime.namespace, id, lock: createId(), leaseMs: JOB_LEASE_MS };
  const record = await engine.jobs.claim(claim);
  if (record === null) return false;
  await new JobSlice(runtime, record, askedAt).run();
  await engine.requests.sweep(); // receipts of jobs that ended long ago
  return true;
}

/** The same, and then rests for as long as that took: live work goes first. */
export async function runSliceAndRest(runtime: WorkflowRuntime, id: string): Promise<boolean> {
  const { clock } = runtime.store;
  const beganAt = clock.monotonic();
  const ran = await runSlice(runtime, id);
  const restMs = Math.min(clock.monotonic() - beganAt, SLICE_MS);
  if (restMs > 0) await pause(clock, restMs);
  return ran;
}
