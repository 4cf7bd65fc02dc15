import { type InstanceRecord, PARENT_LABEL } from "../../store/instances/instance-records.ts";
import {
  decodeValue,
  describeError,
  describeWithStack,
  isSensitive,
  REDACTED,
  shownOrUnreadable,
} from "../../values/index.ts";
import type { Labels } from "../define/labels.ts";
import { shownVersion } from "../define/version.ts";
import { fromTrait } from "../define/workflow-event.ts";
import { toRollback } from "../rollback/rollback-outcome.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { InstanceState, InstanceSummary } from "./instance.ts";
import { findUnreadableParams } from "./unreadable.ts";

/**
 * An instance that its owner holds in memory during a wait is `waiting`, and so is one that waits for code that matches its
 * history.
 */
export function toState(record: InstanceRecord, runtime: WorkflowRuntime): InstanceState {
  return { ...toValues(record, runtime), ...toParams(record, runtime), ...toPlainState(record, runtime) };
}

/**
 * The first owner of an instance that was created in SQL marks its params; until then the workflow says whether they are
 * sensitive.
 */
function toParams({ name, params }: InstanceRecord, { workflows }: WorkflowRuntime) {
  if (isSensitive(params) || workflows.find(name)?.sensitive) return { params: REDACTED };
  return shownOrUnreadable(() => ({ params: decodeValue(params) }));
}

/** A list item: unreadable values are marked instead of thrown. */
export function toSummary(record: InstanceRecord, runtime: WorkflowRuntime): InstanceSummary {
  const { id, name } = record;
  const values = shownOrUnreadable(() => toValues(record, runtime));
  const params = findUnreadableParams(runtime.store, record);
  return {
    id,
    workflowName: name,
    ...values,
    ...(params === null ? {} : { unreadable: params }),
    ...toPlainState(record, runtime),
  };
}

/** The user's values. Throws CodecError if they can't be read. */
function toValues({ status, output, error, rollback }: InstanceRecord, { store }: WorkflowRuntime) {
  return {
    ...(status === "complete" ? { output: decodeValue(output as string) } : {}),
    ...(status === "errored" ? { error: describeWithStack(decodeValue(error as string), store.stackTraces) } : {}),
    ...(status === "diverged" ? { diverged: describeError(decodeValue(error as string)) } : {}),
    ...toRollback(rollback, store.stackTraces),
  };
}

function toPlainState(record: InstanceRecord, runtime: WorkflowRuntime) {
  const { status, run, labels, priority, createdAt, startedAt, finishedAt, ref } = record;
  const waits = status === "running" && runtime.live.get(ref)?.waiting === true;
  return {
    status: waits || status === "diverged" ? ("waiting" as const) : status,
    ...shownVersion(record),
    run,
    ...shownParent(record),
    ...shownSchedule(record),
    ...(priority === 0 ? {} : { priority }),
    ...shownLimits(record, runtime),
    labels: shownLabels(labels),
    createdAt: new Date(createdAt),
    startedAt: startedAt === null ? null : new Date(startedAt),
    finishedAt: finishedAt === null ? null : new Date(finishedAt),
  };
}

/** Those that a caller gave. */
function shownLabels(labels: string | null): Labels {
  const all = Object.entries(labels === null ? {} : (JSON.parse(labels) as Labels));
  return Object.fromEntries(all.filter(([key]) => key !== PARENT_LABEL));
}

/** Nothing for an instance that a caller has created: its row names no parent, or the request that may be repeated. */
function shownParent({ parent }: InstanceRecord): Pick<InstanceState, "parent"> {
  if (parent === null || !parent.startsWith("[")) return {};
  const [workflowName, id] = JSON.parse(parent) as [string, string];
  return { parent: { workflowName, id } };
}

function shownSchedule({ schedule }: InstanceRecord): Pick<InstanceState, "schedule"> {
  const trait = fromTrait(schedule);
  if (trait === undefined) return {};
  return { schedule: { cron: trait.cron, scheduledTime: new Date(trait.scheduledTime) } };
}

function shownLimits(
  { name, slotKey, rateKey }: InstanceRecord,
  runtime: WorkflowRuntime,
): Pick<InstanceState, "limits"> {
  if (slotKey === null && rateKey === null) return {};
  const { slots, starts } = runtime.workflows.limitsOf(name);
  return {
    limits: {
      ...(slotKey === null ? {} : { concurrency: { key: slotKey, limit: slots } }),
      ...(rateKey === null ? {} : { rateLimit: { key: rateKey, limit: starts?.limit ?? null } }),
    },
  };
}
