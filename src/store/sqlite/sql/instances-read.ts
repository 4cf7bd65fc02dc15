import { WorkClass } from "../../queue/work-class.ts";

/**
 * The instance has an owner. A row of the leased class without a lock was given back after a recovery, and waits to be taken
 * over.
 */
export const HELD = `class = ${WorkClass.leased} and lock is not null`;

/** An unfinished instance that no owner holds. Index: perdure_instance_waiting has exactly these. */
const WAITS = `instance.outcome is null and (instance.class <> ${WorkClass.leased} or instance.lock is null)`;

/** An instance that an owner holds. Index: perdure_instance_due. */
const IN_LANE = `instance.class = ${WorkClass.leased} and instance.available_at is not null and instance.lock is not null
  and instance.outcome is null`;

/** The columns of an instance as callers and operators see it. */
export const INSTANCE_RECORD = `namespace, name, id, version, ref, run, status, params, output, error, rollback, labels, priority, schedule, trace, parent,
  slot_key, rate_key, created_at, started_at, finished_at, available_at`;

/** One instance by its id. Index: perdure_instance_id. */
export const GET_INSTANCE = `select ${INSTANCE_RECORD} from perdure_instance where namespace = ? and name = ? and id = ?`;

/** One instance by its ref. Index: the primary key. */
export const GET_INSTANCE_BY_REF = `select ${INSTANCE_RECORD} from perdure_instance where ref = ?`;

/** The filters that all lists share. Parameters: ?1 namespace, ?2 name, ?3 limit, ?4 after, ?5 to ?8 times. */
export const TIMES = `(?5 is null or instance.created_at >= ?5) and (?6 is null or instance.created_at < ?6)
  and (?7 is null or instance.finished_at >= ?7) and (?8 is null or instance.finished_at < ?8)`;

export interface ListShape {
  readonly order: "oldest" | "newest";
  readonly paged: boolean;
  /** Whether it ends at a ref, which is the last parameter. */
  readonly ended: boolean;
}

/** Refs of instances with one outcome (?9), up to ?10. Index: perdure_instance_finished, and nothing else is read. */
export function listFinishedRefs(shape: ListShape): string {
  return listRefs(shape, "finished", "instance.outcome = ?9");
}

/**
 * Refs of unfinished instances in one status (?9) that no owner holds, up to ?10. Index: perdure_instance_waiting, and nothing else is
 * read.
 */
export function listWaitingRefs(shape: ListShape): string {
  return listRefs(shape, "waiting", `${WAITS} and instance.status = ?9`);
}

function listRefs(shape: ListShape, index: "finished" | "waiting", condition: string): string {
  const { beyond, direction } = inOrder(shape, "instance", "?10");
  return `
select instance.ref from perdure_instance as instance indexed by perdure_instance_${index}
where instance.namespace = ?1 and instance.name = ?2 and ${condition} and ${beyond} and ${TIMES}
order by instance.ref ${direction}
limit ?3`;
}

/**
 * The last of ?3 refs of instances with one outcome (?5), whatever their times; none if there are fewer. Index:
 * perdure_instance_finished, and nothing else is read.
 */
export function reachOfFinished(shape: Omit<ListShape, "ended">): string {
  return reachOf(shape, "perdure_instance as instance indexed by perdure_instance_finished", "instance.outcome = ?5");
}

/** The same of unfinished instances in one status. Index: perdure_instance_waiting, and nothing else is read. */
export function reachOfWaiting(shape: Omit<ListShape, "ended">): string {
  const condition = `${WAITS} and instance.status = ?5`;
  return reachOf(shape, "perdure_instance as instance indexed by perdure_instance_waiting", condition);
}

/** The same of instances with a label (?5 and ?6). Index: the primary key of perdure_label, and nothing else is read. */
export function reachOfLabel(shape: Omit<ListShape, "ended">): string {
  return reachOf(shape, "perdure_label as instance", "instance.key = ?5 and instance.value = ?6");
}

function reachOf(shape: Omit<ListShape, "ended">, entries: string, condition: string): string {
  const { beyond, direction } = inOrder({ ...shape, ended: false }, "instance", "");
  return `
select instance.ref from ${entries}
where instance.namespace = ?1 and instance.name = ?2 and ${condition} and ${beyond}
order by instance.ref ${direction}
limit 1 offset ?3 - 1`;
}

/**
 * Refs of instances in some statuses (?9, an array) that owners hold, up to ?10. Index: perdure_instance_due, its leased lane,
 * then the rows.
 */
export function listHeldRefs(shape: ListShape): string {
  const { beyond, direction } = inOrder(shape, "instance", "?10");
  return `
select instance.ref from perdure_instance as instance indexed by perdure_instance_due
where instance.namespace = ?1 and instance.name = ?2 and ${IN_LANE} and instance.status in (select value from json_each(?9))
  and ${beyond} and ${TIMES}
order by instance.ref ${direction}
limit ?3`;
}

/**
 * Refs of instances in some statuses (?9, an array) that have a label (?10 and ?11) and all further labels (?12, an array of
 * keys and values), up to ?13. Indexes: the primary key of perdure_label, then that of perdure_instance.
 */
export function listRefsByLabel(shape: ListShape): string {
  const { beyond, direction } = inOrder(shape, "label", "?13");
  return `
select label.ref from perdure_label as label cross join perdure_instance as instance on instance.ref = label.ref
where label.namespace = ?1 and label.name = ?2 and label.key = ?10 and label.value = ?11 and ${beyond}
  and instance.status in (select value from json_each(?9)) and ${TIMES}
  and not exists (
    select 1 from json_each(?12) as wanted
    where not exists (
      select 1 from perdure_label as other
      where other.namespace = ?1 and other.name = ?2 and other.key = wanted.value ->> 0 and other.value = wanted.value ->> 1
        and other.ref = label.ref
    )
  )
order by label.ref ${direction}
limit ?3`;
}

export function inOrder({ order, paged, ended }: ListShape, table: string, until: string) {
  const [from, to, direction] = order === "oldest" ? [">", "<=", "asc"] : ["<", ">=", "desc"];
  const begin = paged ? `${table}.ref ${from} ?4` : "?4 is null";
  return { beyond: ended ? `${begin} and ${table}.ref ${to} ${until}` : begin, direction };
}

/**
 * Counts the finished instances of a workflow in each of some statuses (?4, an array), each up to ?3. Index:
 * perdure_instance_finished, and nothing else is read.
 */
export const COUNT_FINISHED_INSTANCES = countByStatus("finished", "instance.outcome = wanted.value");

/** The same of unfinished instances that no owner holds. Index: perdure_instance_waiting, and nothing else is read. */
export const COUNT_WAITING_INSTANCES = countByStatus("waiting", `${WAITS} and instance.status = wanted.value`);

function countByStatus(index: "finished" | "waiting", condition: string): string {
  return `
select ?2 as name, wanted.value as status, (
  select count(*) from (
    select 1 from perdure_instance as instance indexed by perdure_instance_${index}
    where instance.namespace = ?1 and instance.name = ?2 and ${condition}
    limit ?3
  )
) as count
from json_each(?4) as wanted`;
}

/** Counts the instances that owners hold, of all workflows. Index: perdure_instance_due, its leased lane, then the rows. */
export const COUNT_HELD_INSTANCES = `
select instance.name, instance.status, count(*) as count from perdure_instance as instance indexed by perdure_instance_due
where instance.namespace = ?1 and ${IN_LANE}
group by instance.name, instance.status`;

/**
 * Counts the instances of a workflow that have a label (?3 and ?4) and all further labels (?5, an array of keys and values),
 * from a ref (?6) on. Reads the row of each. Index: the primary key, of labels and then of instances.
 */
export const COUNT_LABELLED_INSTANCES = `
select instance.name, instance.status, count(*) as count
from perdure_label as label cross join perdure_instance as instance on instance.ref = label.ref
where label.namespace = ?1 and label.name = ?2 and label.key = ?3 and label.value = ?4 and label.ref >= ?6
  and not exists (
    select 1 from json_each(?5) as wanted
    where not exists (
      select 1 from perdure_label as other
      where other.namespace = ?1 and other.name = ?2 and other.key = wanted.value ->> 0 and other.value = wanted.value ->> 1
        and other.ref = label.ref
    )
  )
group by instance.status`;

/**
 * Begins a statement: the names of all workflows that have instances in a namespace (?1). Each name takes one search of the
 * index, however many instances the workflow has. The last name is null. Index: perdure_instance_id.
 */
const WITH_WORKFLOW_NAMES = `with recursive workflow(name) as (
  select min(name) from perdure_instance where namespace = ?1
  union all
  select (select min(instance.name) from perdure_instance as instance where instance.namespace = ?1 and instance.name > workflow.name)
  from workflow
  where workflow.name is not null
)`;

/** The names of workflows that have instances. Index: perdure_instance_id. */
export const WORKFLOW_NAMES = `${WITH_WORKFLOW_NAMES}
select name from workflow where name is not null`;

/**
 * Workflows that have unfinished instances, and that this process has no code for. Indexes: perdure_instance_id,
 * perdure_instance_waiting, perdure_instance_due.
 */
export const UNKNOWN_NAMES = `
${WITH_WORKFLOW_NAMES}
select name from workflow
where name is not null
  and name not in (select value from json_each(?2))
  and (
    exists (
      select 1 from perdure_instance as instance indexed by perdure_instance_waiting
      where instance.namespace = ?1 and instance.name = workflow.name and ${WAITS}
        and instance.status in ('queued', 'waiting', 'diverged', 'rollingBack')
    )
    or exists (
      select 1 from perdure_instance as instance indexed by perdure_instance_due
      where instance.namespace = ?1 and ${IN_LANE} and instance.name = workflow.name and not instance.paused
    )
  )
limit 20`;

/**
 * Counts the unfinished instances of a workflow by version, up to a limit: the oldest in each of some statuses (?4, an array),
 * and those that owners hold. Indexes: perdure_instance_waiting and perdure_instance_due, then the rows.
 */
export const COUNT_VERSIONS = `
select ?2 as name, version, count(*) as count from (
  select instance.version
  from json_each(?4) as wanted cross join perdure_instance as instance indexed by perdure_instance_waiting
  where instance.namespace = ?1 and instance.name = ?2 and ${WAITS} and instance.status = wanted.value
  union all
  select instance.version from perdure_instance as instance indexed by perdure_instance_due
  where instance.namespace = ?1 and ${IN_LANE} and instance.name = ?2
  limit ?3
)
group by version`;

/** An instance's run, status and last position. Indexes: both primary keys. */
export const READ_POSITION = `
select run, status, coalesce((
    select max(position) from perdure_journal as journal
    where journal.ref = perdure_instance.ref and journal.run = perdure_instance.run
  ), 0) as position
from perdure_instance
where ref = ?`;

/** Where an instance stands in the queue. Index: the primary key. */
export const READ_SITUATION = `
select ref, class, lock, paused_by, available_at, slot_key, rate_key from perdure_instance where ref = ?`;

/** How earlier runs ended. Index: the primary key. */
export const READ_PAST_RUNS = `
select run, version, status, output, error, rollback, started_at, finished_at from perdure_past_run where ref = ?1 and run > ?2 order by run limit ?3`;
