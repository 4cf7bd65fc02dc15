import type { HookDefinitions } from "../../hooks/define-hook.ts";
import { checkOptions } from "../../options.ts";
import { encodeValue } from "../../values/index.ts";
import type { EnvOption } from "../../workflows/define/registered-workflows.ts";
import type { AnyWorkflow, Workflows } from "../../workflows/define/workflow-types.ts";
import { describeStep } from "../../workflows/execution/steps/step-path.ts";
import type { HistoryItem } from "../../workflows/views/history-page.ts";
import { createTestWorld } from "../test-app.ts";
import { CallWatch, type NewResults } from "./call-watch.ts";
import { type RecordedHistory, readRecorded, storeHistory } from "./recorded-history.ts";

export type { RecordedHistory };

export interface ReplayOptions {
  /** With which the instance was created. */
  readonly params?: unknown;
  readonly instanceId?: string;
  readonly env?: EnvOption;
  /** Other workflows that it knows: those that it creates children of or sends events to. */
  readonly workflows?: Workflows;
  /** The hooks that it triggers with `step.trigger`, unless it names them by a text. */
  readonly hooks?: HookDefinitions;
  /** The present time. Default: when the last entry was written. */
  readonly at?: Date | number;
  /** Results of steps that the history doesn't have, by step: the replay continues after them. */
  readonly results?: Readonly<Record<string, unknown>>;
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
  /** New steps in front of stored ones, which the code calls as well. They would run once, which is harmless. */
  readonly inserted: readonly string[];
  /**
   * New steps in front of stored ones that the code doesn't call. They may do again what is done: a step was renamed or
   * replaced.
   */
  readonly repeated: readonly string[];
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
  checkOptions(options, {
    label: "replay",
    fields: ["params", "instanceId", "env", "workflows", "hooks", "at", "results"],
  });
  const { results = {} } = options;
  const entries = readRecorded(history);
  const given: NewResults = (step) => (Object.hasOwn(results, step) ? { value: results[step] } : null);
  const { watch, ...report } = await follow(entries, workflow, options, given);
  const judged =
    watch.repeated.length > 0 && watch.open.length > 0 ? await probe(entries, workflow, options, given) : watch;
  return {
    ...report,
    unreached: watch.unreached.map(describeStep),
    inserted: judged.inserted.map(describeStep),
    repeated: judged.repeated.map(describeStep),
  };
}

/** Goes on after new steps, as if they gave nothing: then it is known whether the code calls the stored steps that follow. */
async function probe(
  entries: readonly HistoryItem[],
  workflow: AnyWorkflow,
  options: ReplayOptions,
  given: NewResults,
): Promise<CallWatch> {
  const { watch } = await follow(entries, workflow, options, (step) => given(step) ?? { value: undefined });
  return watch;
}

async function follow(
  entries: readonly HistoryItem[],
  workflow: AnyWorkflow,
  options: ReplayOptions,
  resultOf: NewResults,
): Promise<Pick<ReplayReport, "outcome" | "output" | "error" | "next"> & { readonly watch: CallWatch }> {
  const { params, instanceId = "replayed", env, workflows = {}, hooks = {}, at } = options;
  const watch = new CallWatch(entries, resultOf, hooks);
  const registry = { ...workflows, replayed: workflow };
  const startAt = at ?? entries.at(-1)?.at;
  const world = await createTestWorld(
    { workflows: registry, env, ...(startAt === undefined ? {} : { startAt }) },
    (process) => (key, _id, step) => watch.watchSteps(step, key === "replayed", (child) => process().nameOf(child)),
  );
  try {
    const process = world.here();
    const { name, version } = process.registered("replayed");
    const instance = { namespace: "app", name, version, id: instanceId };
    await storeHistory(process.statements, instance, encodeValue(params), entries);
    await process.runDue({ untilStalled: true });
    const { status, output, error } = await process.instance("replayed", instanceId).status();
    const outcome = status === "complete" || status === "errored" ? status : "continues";
    return {
      outcome,
      ...(outcome === "complete" ? { output } : {}),
      ...(error === undefined ? {} : { error }),
      next: outcome === "continues" ? watch.open.map(describeStep) : [],
      watch,
    };
  } finally {
    world.stop();
  }
}
