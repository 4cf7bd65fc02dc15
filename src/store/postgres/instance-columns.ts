import type {
  EventInsert,
  InstanceCommit,
  InstanceInsert,
  InstanceLease,
  InstanceName,
  InstanceOutcome,
  InstanceRun,
} from "../instance-records.ts";
import type { CommitShape } from "./sql/commit-instances.ts";

/** Rows as columns: a batch is given to PostgreSQL as one array for each column. */
export function runColumns(runs: readonly InstanceRun[]): unknown[] {
  return [runs.map(({ ref }) => ref), runs.map(({ run }) => run)];
}

export function instanceLeaseColumns(leases: readonly InstanceLease[]): unknown[] {
  return [...runColumns(leases), leases.map(({ lock }) => lock)];
}

export function nameColumns(names: readonly InstanceName[]): unknown[] {
  return [names.map(({ namespace }) => namespace), names.map(({ name }) => name), names.map(({ id }) => id)];
}

/** With the place of each, so that answers can be put in order. */
export function placedNameColumns(names: readonly InstanceName[]): unknown[] {
  return [names.map((_, index) => index), ...nameColumns(names)];
}

export function instanceColumns(instances: readonly InstanceInsert[]): unknown[] {
  return [instances.map(({ ref }) => ref), ...nameColumns(instances), instances.map(({ params }) => params)];
}

/** What most batches look like needs fewer columns. */
export function shapeOf(commits: readonly InstanceCommit[]): CommitShape {
  let outcomes: CommitShape["outcomes"] = "running";
  let entries: CommitShape["entries"] = "plain";
  for (const commit of commits) {
    const { kind } = commit.outcome;
    if (kind === "completed" && outcomes === "running") outcomes = "finishing";
    else if (kind !== "running" && kind !== "completed") outcomes = "any";
    if (!commit.entries.every((entry) => entry.kind === "completed" && isPlain(entry))) entries = "any";
  }
  return { outcomes, entries };
}

function isPlain({ dueAt, event, nested }: InstanceCommit["entries"][number]): boolean {
  return dueAt === null && event === null && !nested;
}

export function commitColumns(commits: readonly InstanceCommit[], shape: CommitShape): unknown[] {
  return [...instanceLeaseColumns(commits), ...outcomeColumns(commits, shape), ...entryColumns(commits, shape)];
}

function outcomeColumns(commits: readonly InstanceCommit[], { outcomes }: CommitShape): unknown[] {
  if (outcomes === "running") return [];
  const output = commits.map(({ outcome }) => outputOf(outcome));
  if (outcomes === "finishing") return [output];
  return [
    commits.map(({ outcome }) => outcome.kind),
    commits.map(({ outcome }) => (outcome.kind === "parked" ? outcome.dueAt : null)),
    commits.map(({ outcome }) => (outcome.kind === "parked" ? outcome.wakes : null)),
    output,
    commits.map(({ outcome }) => (outcome.kind === "errored" ? outcome.error : null)),
  ];
}

function outputOf(outcome: InstanceOutcome): string | null {
  return outcome.kind === "completed" ? outcome.output : null;
}

function entryColumns(commits: readonly InstanceCommit[], { entries }: CommitShape): unknown[] {
  const rows = commits.flatMap((commit) =>
    commit.entries.map((entry, index) => ({
      ref: commit.ref,
      run: commit.run,
      position: commit.position + index,
      entry,
    })),
  );
  const plain = [
    rows.map(({ ref }) => ref),
    rows.map(({ run }) => run),
    rows.map(({ position }) => position),
    rows.map(({ entry }) => entry.type),
    rows.map(({ entry }) => entry.name),
    rows.map(({ entry }) => entry.count),
    rows.map(({ entry }) => entry.attempt),
    rows.map(({ entry }) => entry.value),
  ];
  if (entries === "plain") return plain;
  return [
    ...plain,
    rows.map(({ entry }) => entry.kind),
    rows.map(({ entry }) => entry.dueAt),
    rows.map(({ entry }) => entry.event),
    rows.map(({ entry }) => entry.nested),
  ];
}

export function eventColumns(events: readonly EventInsert[]): unknown[] {
  return [
    ...placedNameColumns(events),
    events.map(({ eventId }) => eventId),
    events.map(({ type }) => type),
    events.map(({ payload }) => payload),
  ];
}
