import type {
  EventInsert,
  InstanceCommit,
  InstanceInsert,
  InstanceLease,
  InstanceName,
  InstanceOutcome,
  InstanceRun,
  InstanceTraits,
  NewEntry,
} from "../../instances/instance-records.ts";
import { integerArray, jsonArray, textArray } from "../array-literals.ts";
import type { CommitShape } from "../sql/instances/commit-instances.ts";

/** Rows as columns: a batch is given to PostgreSQL as one array for each column. */
export function runColumns(runs: readonly InstanceRun[]): unknown[] {
  return [textArray(runs.map(({ ref }) => ref)), integerArray(runs.map(({ run }) => run))];
}

export function instanceLeaseColumns(leases: readonly InstanceLease[]): unknown[] {
  return [...runColumns(leases), textArray(leases.map(({ lock }) => lock))];
}

export function nameColumns(names: readonly InstanceName[]): unknown[] {
  return [
    textArray(names.map(({ namespace }) => namespace)),
    textArray(names.map(({ name }) => name)),
    textArray(names.map(({ id }) => id)),
  ];
}

export function instanceColumns(instances: readonly InstanceInsert[]): unknown[] {
  return [
    textArray(instances.map(({ ref }) => ref)),
    ...nameColumns(instances),
    integerArray(instances.map(({ version }) => version)),
    jsonArray(instances.map(({ params }) => params)),
  ];
}

/** The parameters of `insertInstances` after the time. */
export function insertColumns(instances: readonly InstanceInsert[]): unknown[] {
  return [
    ...instanceColumns(instances),
    textArray(instances.map(({ parent }) => parent)),
    textArray(instances.map(({ lease }) => lease?.lock ?? null)),
    integerArray(instances.map(({ lease }) => lease?.leaseMs ?? null)),
    textArray(instances.map(({ traits }) => traits && traitsToJson(traits))),
  ];
}

/** The parameters of `insertInstances` for those that are created with an event. */
export function firstEventColumns(instances: readonly InstanceInsert[]): unknown[] {
  const told = instances.flatMap(({ ref, event }) => (event === undefined ? [] : [{ ref, event }]));
  return [
    textArray(told.map(({ ref }) => ref)),
    textArray(told.map(({ event }) => event.eventId)),
    textArray(told.map(({ event }) => event.type)),
    textArray(told.map(({ event }) => event.payload)),
  ];
}

/** One JSON object. Labels and schedule are JSON texts already. */
export function traitsToJson({ labels, schedule, ...rest }: InstanceTraits): string {
  return `${JSON.stringify(rest).slice(0, -1)},"labels":${labels},"schedule":${schedule}}`;
}

/** The smallest shape that fits the batch: most batches need few columns. */
export function shapeOf(commits: readonly InstanceCommit[]): CommitShape {
  let outcomes: CommitShape["outcomes"] = "running";
  let entries: CommitShape["entries"] = "plain";
  let limited = false;
  for (const commit of commits) {
    const { kind } = commit.outcome;
    if (kind === "completed" && outcomes === "running") outcomes = "finishing";
    else if (kind !== "running" && kind !== "completed") outcomes = "any";
    if (!commit.entries.every(isPlain)) entries = "any";
    if (commit.limited === true && kind !== "running") limited = true;
  }
  return { outcomes, entries, limited, hooks: commits.some(({ hook }) => hook !== undefined) };
}

export function isPlain({ kind, value, dueAt, event, parent, began = null }: NewEntry): boolean {
  const ordinary = dueAt === null && event === null && parent === null && began === null;
  return ordinary && kind === "completed" && value !== null;
}

type ColumnShape = Pick<CommitShape, "outcomes" | "entries" | "hooks">;

export function commitColumns(commits: readonly InstanceCommit[], shape: ColumnShape): unknown[] {
  return [
    ...instanceLeaseColumns(commits),
    ...outcomeColumns(commits, shape),
    ...entryColumns(commits, shape),
    ...(shape.hooks ? endingHookColumns(commits) : []),
  ];
}

/** The hooks that are triggered by the ends of these instances. */
export function endingHookColumns(endings: readonly Pick<InstanceCommit, "ref" | "hook">[]): unknown[] {
  const triggers = endings.flatMap(({ ref, hook }) => (hook === undefined ? [] : [{ ref, hook }]));
  return [
    textArray(triggers.map(({ ref }) => ref)),
    textArray(triggers.map(({ hook }) => hook.namespace)),
    textArray(triggers.map(({ hook }) => hook.id)),
    textArray(triggers.map(({ hook }) => hook.name)),
    textArray(triggers.map(({ hook }) => hook.payload)),
  ];
}

function outcomeColumns(commits: readonly InstanceCommit[], { outcomes }: ColumnShape): unknown[] {
  if (outcomes === "running") return [];
  const output = textArray(commits.map(({ outcome }) => outputOf(outcome)));
  if (outcomes === "finishing") return [output];
  return [
    textArray(commits.map(({ outcome }) => outcome.kind)),
    integerArray(commits.map(({ outcome }) => ("dueAt" in outcome ? (outcome.dueAt ?? null) : null))),
    integerArray(commits.map(({ outcome }) => (outcome.kind === "parked" ? outcome.wakes : null))),
    output,
    textArray(commits.map(({ outcome }) => ("error" in outcome ? (outcome.error ?? null) : null))),
    textArray(commits.map(({ outcome }) => ("rollback" in outcome ? (outcome.rollback ?? null) : null))),
  ];
}

function outputOf(outcome: InstanceOutcome): string | null {
  return outcome.kind === "completed" ? outcome.output : null;
}

function entryColumns(commits: readonly InstanceCommit[], { entries }: ColumnShape): unknown[] {
  const rows = commits.flatMap((commit) =>
    commit.entries.map((entry, index) => ({
      ref: commit.ref,
      run: commit.run,
      position: commit.position + index,
      entry,
    })),
  );
  const texts = (column: (entry: NewEntry) => string | null) => textArray(rows.map(({ entry }) => column(entry)));
  const integers = (column: (entry: NewEntry) => number | null) => integerArray(rows.map(({ entry }) => column(entry)));
  const values = rows.map(({ entry }) => entry.value);
  const positions = [
    textArray(rows.map(({ ref }) => ref)),
    integerArray(rows.map(({ run }) => run)),
    integerArray(rows.map(({ position }) => position)),
  ];
  const steps = [
    texts(({ type }) => type),
    texts(({ name }) => name),
    integers(({ count }) => count),
    integers(({ attempt }) => attempt),
  ];
  if (entries === "plain") return [...positions, ...steps, jsonArray(values)];
  const details = [integers(({ dueAt }) => dueAt), integers(({ event }) => event)];
  return [
    ...positions,
    ...steps,
    textArray(values),
    texts(({ kind }) => kind),
    ...details,
    texts(({ parent }) => parent),
    integers(({ began = null }) => began),
  ];
}

export function eventColumns(events: readonly EventInsert[]): unknown[] {
  return [
    ...nameColumns(events),
    textArray(events.map(({ eventId }) => eventId)),
    textArray(events.map(({ type }) => type)),
    textArray(events.map(({ payload }) => payload)),
    integerArray(events.map(({ maxPending }) => maxPending ?? null)),
    textArray(events.map(({ only }) => only?.ref ?? null)),
    integerArray(events.map(({ only }) => only?.run ?? null)),
  ];
}
