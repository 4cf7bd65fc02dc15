import { WorkClass } from "../../queue/work-class.ts";

/** Somebody has it. A row of class 2 without an owner was given back after a recovery, and is waiting to be taken over. */
export const HELD = `class = ${WorkClass.leased} and lock is not null`;

/** An instance as people see it. */
export const INSTANCE_RECORD = `namespace, name, id, ref, run, status, params, output, error, rollback, labels, priority, schedule,
  created_at, started_at, finished_at, available_at`;

/** Index: perdure_instance_id. */
export const GET_INSTANCE = `select ${INSTANCE_RECORD} from perdure_instance where namespace = ? and name = ? and id = ?`;

/** Index: the primary key. */
export const GET_INSTANCE_BY_REF = `select ${INSTANCE_RECORD} from perdure_instance where ref = ?`;

/** The filters of a list that every way to find instances has. Parameters: ?1 namespace, ?2 name, ?3 limit, ?4 after, ?5 to ?8 times. */
const TIMES = `(?5 is null or instance.created_at >= ?5) and (?6 is null or instance.created_at < ?6)
  and (?7 is null or instance.finished_at >= ?7) and (?8 is null or instance.finished_at < ?8)`;

export interface ListShape {
  readonly order: "oldest" | "newest";
  readonly paged: boolean;
}

/** Refs of those that are finished in one way (?9), in their order. Index: perdure_instance_outcome, and nothing else is read. */
export function listFinishedRefs(shape: ListShape): string {
  return listRefs(shape, "instance.outcome = ?9");
}

/** Refs of those that aren't finished, in some statuses (?9, an array). Index: perdure_instance_outcome, then the primary key. */
export function listUnfinishedRefs(shape: ListShape): string {
  return listRefs(shape, "instance.outcome is null and instance.status in (select value from json_each(?9))");
}

function listRefs(shape: ListShape, condition: string): string {
  const { beyond, direction } = inOrder(shape, "instance");
  return `
select instance.ref from perdure_instance as instance indexed by perdure_instance_outcome
where instance.namespace = ?1 and instance.name = ?2 and ${condition} and ${beyond} and ${TIMES}
order by instance.ref ${direction}
limit ?3`;
}

/**
 * Refs of those that have a label (?10 and ?11) and all the others (?12, an array of keys and values), in some statuses (?9, an
 * array). Indexes: the primary key of perdure_label, then that of perdure_instance.
 */
export function listRefsByLabel(shape: ListShape): string {
  const { beyond, direction } = inOrder(shape, "label");
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

function inOrder({ order, paged }: ListShape, table: string) {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return { beyond: paged ? `${table}.ref ${comparison} ?4` : "?4 is null", direction };
}

/** Finished instances of a workflow. Index: perdure_instance_outcome, and nothing else is read. */
export const COUNT_FINISHED_INSTANCES = `
select name, outcome as status, count(*) as count from perdure_instance indexed by perdure_instance_outcome
where namespace = ? and name = ? and outcome > ''
group by outcome`;

/** The others. Index: perdure_instance_outcome, then the primary key. */
export const COUNT_UNFINISHED_INSTANCES = `
select name, status, count(*) as count from perdure_instance indexed by perdure_instance_outcome
where namespace = ? and name = ? and outcome is null
group by status`;

/**
 * The names of all workflows that have instances in a namespace (?1), found one by one, so that it doesn't matter how many
 * instances each has; the last one is null. Begins a statement. Index: perdure_instance_id.
 */
export const WITH_WORKFLOW_NAMES = `with recursive workflow(name) as (
  select min(name) from perdure_instance where namespace = ?1
  union all
  select (select min(instance.name) from perdure_instance as instance where instance.namespace = ?1 and instance.name > workflow.name)
  from workflow
  where workflow.name is not null
)`;

export const WORKFLOW_NAMES = `${WITH_WORKFLOW_NAMES}
select name from workflow where name is not null`;

/** Workflows that somebody has started and that we don't know. Indexes: perdure_instance_id, perdure_instance_outcome. */
export const UNKNOWN_NAMES = `
${WITH_WORKFLOW_NAMES}
select name from workflow
where name is not null
  and name not in (select value from json_each(?2))
  and exists (
    select 1 from perdure_instance as instance indexed by perdure_instance_outcome
    where instance.namespace = ?1 and instance.name = workflow.name and instance.outcome is null and not instance.paused
  )
limit 20`;

/** How far an instance has come. Indexes: both primary keys. */
export const READ_POSITION = `
select run, status, coalesce((
    select max(position) from perdure_journal as journal
    where journal.ref = perdure_instance.ref and journal.run = perdure_instance.run
  ), 0) as position
from perdure_instance
where ref = ?`;

/** Index: the primary key. */
export const READ_PAST_RUNS = `
select run, status, output, error, rollback, started_at, finished_at from perdure_past_run where ref = ?1 and run > ?2 order by run limit ?3`;
