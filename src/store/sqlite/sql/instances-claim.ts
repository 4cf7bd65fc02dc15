import { WorkClass } from "../../queue/work-class.ts";
import { VERSION_NAME } from "./queue.ts";

/** The columns of a claimed instance, as they were before the claim. */
export const CLAIMED_COLUMNS = `namespace, name, id, version, ref, run, class, lock, params, created_at, recoveries, confirmed, wakes, paused, schedule, trace,
  slot_key, timeout, deadline,
  rolling_back, started_at,
  started_at is not null or wakes > 0 as begun,
  available_at as due_at`;

const findDueInstances = (condition: string) => `
select ${CLAIMED_COLUMNS}
from perdure_instance
where namespace = ? and class = ? and available_at <= ? and ${VERSION_NAME} in (select value from json_each(?))${condition}
order by available_at, ref
limit ?`;

/** The due instances of one lane, oldest first. Index: perdure_instance_due; instances that aren't due are never read. */
export const FIND_DUE_INSTANCES: string = findDueInstances("");

/** The same, only instances that have not lost an owner before. Index: perdure_instance_due. */
export const FIND_LOST_INSTANCES: string = findDueInstances(" and recoveries = 0");

/**
 * Claims the instances that were found. The error of one that was held because its code had diverged is cleared. Index: the
 * primary key.
 */
export const CLAIM_INSTANCES = `
update perdure_instance set lock = ?, class = ${WorkClass.leased}, available_at = ?, confirmed = 0, started_at = coalesce(started_at, ?),
  error = case when rolling_back is not null then error end
where ref in (select value from json_each(?))`;

/** Writes that the owner begins: from now on its loss counts. Index: the primary key. */
export const CONFIRM_INSTANCE = `update perdure_instance set confirmed = 1 where ref = ? and run = ? and lock = ? and class = ${WorkClass.leased}`;

/** The last position of a run's journal, without progress, which proves no step. */
const JOURNAL_LENGTH = `coalesce((
    select position from perdure_journal as journal
    where journal.ref = perdure_instance.ref and journal.run = perdure_instance.run and journal.kind <> 'progress'
    order by position desc limit 1
  ), 0)`;

/**
 * Counts a lost owner. If the journal has grown since the last loss, the count starts again at 1. Indexes: both primary keys.
 */
export const COUNT_RECOVERY = `
update perdure_instance set
  recoveries = case when ${JOURNAL_LENGTH} > recovered_position then 1 else recoveries + 1 end,
  recovered_position = ${JOURNAL_LENGTH}
where ref = ?
returning recoveries`;

/** Extends a lease, for its owner only. Index: the primary key. */
export const RENEW_INSTANCE = `
update perdure_instance set available_at = ?
where ref = ? and run = ? and lock = ? and class = ${WorkClass.leased}
returning ref, run, lock, wakes, paused`;

/**
 * Claims a parked instance for its last owner, if no other has claimed it since. Sent again, it finds its own token. Index: the
 * primary key.
 */
export const REACQUIRE_INSTANCE = `
update perdure_instance set lock = ?1, class = ${WorkClass.leased}, available_at = ?2
where ref = ?3 and run = ?4
  and (lock = ?5 and class <> ${WorkClass.leased} and outcome is null and not paused or lock = ?1 and class = ${WorkClass.leased})
returning ref, run, lock, wakes, paused`;
