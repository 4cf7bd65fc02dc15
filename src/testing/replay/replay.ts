import { checkOptions } from "../../options.ts";
import { encodeValue } from "../../values/index.ts";
import type { EnvOption } from "../../workflows/define/registered-workflows.ts";
import type { AnyWorkflow, Workflows } from "../../workflows/define/workflow-types.ts";
import { describeStep } from "../../workflows/execution/step-path.ts";
import { createTestWorld } from "../test-app.ts";
import { CallWatch } from "./call-watch.ts";
import { type RecordedHistory, readRecorded, storeHistory } from "./recorded-history.ts";

export type { RecordedHistory };

export interface ReplayOptions {
  /** With which the instance was created. */
  readonly params?: unknown;
  readonly instanceId?: string;
  readonly env?: EnvOption;
  /** Other workflows that it knows: those that it creates children of. */
  readonly workflows?: Workflows;
  /** The present time. Default: when the last entry was written. */
  readonly at?: Date | number;
}

/** How code replays a stored history. Steps are named as in `do:charge#2`. */
export interface ReplayReport {
  /** `continues`: it has something left to do, or to wait for. */
  readonly outcome: "complete" | "errored" | "continues";
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
  /** The next actions of the code: steps that would run, and waits. */
  readonly next: readonly string[];
  /** Stored steps that the code doesn't call. Their results are lost to it; if one was renamed, give it an alias. */
  readonly unreached: readonly string[];
}

/**
 * Replays a stored history with new code, and reports what the code would do next. No step's function is called, and nothing
 * changes.
 *
 * @example
 * const { entries } = await app.workflows.checkout.get("order-1").then((instance) => instance.history({ limit: 1000 }));
 * const report = await replay(entries, checkout, { params: order });
 * assert.deepEqual(report.unreached, []);
 */
export async function replay(
  history: RecordedHistory,
  workflow: AnyWorkflow,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  checkOptions(options, { label: "replay", fields: ["params", "instanceId", "env", "workflows", "at"] });
  const { params, instanceId = "replayed", env, workflows = {}, at } = options;
  const entries = readRecorded(history);
  const watch = new CallWatch(entries);
  const registry = { ...workflows, replayed: workflow };
  const startAt = at ?? entries.at(-1)?.at;
  const world = await createTestWorld(
    { workflows: registry, env, ...(startAt === undefined ? {} : { startAt }) },
    (process) => (key, _id, step) => watch.watchSteps(step, key === "replayed", (child) => process().nameOf(child)),
  );
  try {
    const process = world.here();
    const name = process.nameOf("replayed");
    await storeHistory(process.statements, { namespace: "app", name, id: instanceId }, encodeValue(params), entries);
    await process.runDue({ untilStalled: true });
    const { status, output, error } = await process.instance("replayed", instanceId).status();
    const outcome = status === "complete" || status === "errored" ? status : "continues";
    return {
      outcome,
      ...(outcome === "complete" ? { output } : {}),
      ...(error === undefined ? {} : { error }),
      next: outcome === "continues" ? watch.open.map(describeStep) : [],
      unreached: watch.unreached.map(describeStep),
    };
  } finally {
    world.stop();
  }
}
