import { LOWEST_PRIORITY, PRIORITY_STEP_MS } from "../../queue/rank.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { HELD, INSTANCE_RECORD } from "./instances-read.ts";

/** An instance's rank, and the keys of the limits that it shares. Index: perdure_instance_id. */
export const FIND_RANK = `
select ref, run, class, available_at, namespace, name, id, slot_key, rate_key, waiters from perdure_instance where namespace = ? and name = ? and id = ?`;

interface Keys {
  readonly slotKey: string;
  readonly rateKey: string;
}

/** The class that `freshRank` gives, in SQL, for an existing row and these keys. */
function freshClass({ slotKey, rateKey }: Keys): string {
  return `case when ${slotKey} is not null or ${rateKey} is not null then ${WorkClass.lineFresh}
    when priority > 0 then ${WorkClass.urgent} when priority < 0 then ${WorkClass.patient} else ${WorkClass.fresh} end`;
}

/** The time in the rank of an instance with a priority, or in a line. `now` is a parameter. */
function lineTime(now: string): string {
  return `${now} - (priority - (${LOWEST_PRIORITY}) + 1) * ${PRIORITY_STEP_MS}`;
}

/** The time that `freshRank` gives, in SQL. */
function freshTime(now: string, { slotKey, rateKey }: Keys): string {
  return `case when priority = 0 and ${slotKey} is null and ${rateKey} is null then ${now} else ${lineTime(now)} end`;
}

/**
 * Marks an instance as paused, by the first who pauses it. It is no longer due; one that has an owner keeps its lease until the
 * owner parks it. Index: perdure_instance_id.
 */
export const PAUSE_INSTANCE = `
update perdure_instance set
  paused = 1, paused_by = iif(paused, paused_by, ?4), available_at = case when ${HELD} then available_at end
where namespace = ?1 and name = ?2 and id = ?3 and outcome is null
returning ${INSTANCE_RECORD}`;

/**
 * Makes an instance due now that is paused, or held because its code has diverged from its history, unless it has an owner. A
 * recovered instance stays in the leased lane, and one that waited in line goes to the end of the line. Index:
 * perdure_instance_id.
 */
export const RESUME_INSTANCE = `
update perdure_instance set
  paused = 0, wakes = wakes + 1,
  class = case when class in (${WorkClass.leased}, ${WorkClass.lineContinuing}, ${WorkClass.lineFresh}) then class else ${WorkClass.continuing} end,
  available_at = case when ${HELD} then available_at when class = ${WorkClass.lineFresh} then ${lineTime("?1")} else ?1 end
where namespace = ?2 and name = ?3 and id = ?4 and (paused or status = 'diverged') and outcome is null
returning ${INSTANCE_RECORD}`;

/** A rollback that is under way stops, and counts as failed. */
const STOPPED_ROLLBACK = `iif(rolling_back is null, null, '{"outcome":"failed"}')`;

/**
 * Ends an unfinished instance at once. Its owner's token is gone, so the owner's next commit is refused. Index:
 * perdure_instance_id.
 */
export const TERMINATE_INSTANCE = `
update perdure_instance set
  outcome = 'terminated', rollback = ${STOPPED_ROLLBACK}, rolling_back = null, finished_at = ?1, purge_at = ?1 + error_retention,
  lock = null, class = ${WorkClass.continuing}, available_at = null, paused = 0, wakes = wakes + 1
where namespace = ?2 and name = ?3 and id = ?4 and outcome is null
returning ${INSTANCE_RECORD}`;

/** The run has not started, and has no entries from an earlier run. */
const UNTOUCHED = `started_at is null and not exists (
    select 1 from perdure_journal as journal where journal.ref = perdure_instance.ref and journal.run = perdure_instance.run
  )`;

/** Makes an instance due, to be rolled back and then to end like this. One that has never begun ends at once. */
function rollBackAs(outcome: "terminated" | "errored"): string {
  return `
update perdure_instance set
  rolling_back = iif(${UNTOUCHED}, null, '${outcome}'),
  outcome = iif(${UNTOUCHED}, '${outcome}', null),
  finished_at = iif(${UNTOUCHED}, ?1, null),
  purge_at = iif(${UNTOUCHED}, ?1 + error_retention, null),
  available_at = iif(${UNTOUCHED}, null, ?1),
  class = iif(${UNTOUCHED} or slot_key is null, ${WorkClass.continuing}, ${WorkClass.lineContinuing}),
  lock = null, recoveries = 0, paused = 0, wakes = wakes + 1, error = ?5
where namespace = ?2 and name = ?3 and id = ?4 and outcome is null and rolling_back is null`;
}

/**
 * Takes an instance from its owner and makes it due now, to be rolled back. An instance that has nothing to roll back is
 * terminated.
 * `?5` is null. Indexes: perdure_instance_id, the journal's primary key.
 */
export const ROLL_BACK_INSTANCE = `${rollBackAs("terminated")}
returning ${INSTANCE_RECORD}`;

/**
 * The same for an instance whose deadline is over, with the error `?5`. Indexes: perdure_instance_id, the journal's primary
 * key.
 */
export const TIME_OUT_INSTANCE = `${rollBackAs("errored")} and deadline <= ?1
returning ${INSTANCE_RECORD}`;

/**
 * Unfinished instances with a timeout, the earliest deadlines first. Index: perdure_instance_deadline.
 */
export const FIND_DEADLINES = `
select namespace, name, id, ref, run, timeout, deadline from perdure_instance indexed by perdure_instance_deadline
where namespace = ?1 and deadline is not null and outcome is null and rolling_back is null and name in (select value from json_each(?2))
order by deadline, ref
limit ?3`;

/** Stores the status and ending of a run that is about to be restarted. Index: perdure_instance_id. */
export const KEEP_PAST_RUN = `
insert into perdure_past_run (ref, run, version, status, output, error, rollback, started_at, finished_at)
select ref, run, version, status, output, error, rollback, started_at, finished_at
from perdure_instance
where namespace = ?1 and name = ?2 and id = ?3 and (?4 is null or status in (select value from json_each(?4)))`;

const KEYS = { slotKey: "iif(?7, ?8, slot_key)", rateKey: "iif(?7, ?9, rate_key)" };

/**
 * Begins the next run of an instance, if its status is one of those given (?5, null is any). It keeps its params, limit keys
 * and version unless new ones are given. Index: perdure_instance_id.
 */
export const RESTART_INSTANCE = `
update perdure_instance set
  run = run + 1, slot_key = ${KEYS.slotKey}, rate_key = ${KEYS.rateKey},
  class = ${freshClass(KEYS)}, available_at = ${freshTime("?1", KEYS)}, lock = null, recoveries = 0, recovered_position = 0,
  wakes = wakes + 1, paused = 0, outcome = null, output = null, error = null, rolling_back = null, rollback = null,
  started_at = null, finished_at = null, purge_at = null, deadline = ?1 + timeout, params = coalesce(?6, params), version = coalesce(?10, version)
where namespace = ?2 and name = ?3 and id = ?4 and (?5 is null or status in (select value from json_each(?5)))
returning ${INSTANCE_RECORD}`;
