import { WorkClass } from "../../queue/work-class.ts";

/** The columns that decide whether an owner's commit is accepted. Index: the primary key. */
export const FIND_RUN = `select class, lock, wakes, paused, slot_key, waiters from perdure_instance where ref = ? and run = ?`;

/**
 * Of the instances with these refs (?1, an array), the indexes of those about which an owner (?2 is its token, ?3 the run) must
 * know more to commit: it has lost them, they were woken or paused, share slots, or are waited for. Index: the primary key.
 */
export const FIND_EXCEPTIONS = `
with owner(lock, run) as materialized (select ?2, ?3)
select item.key as "index"
from owner cross join json_each(?1) as item left join perdure_instance as instance on instance.ref = item.value
where (
  instance.lock = owner.lock and instance.run = owner.run and instance.class = ${WorkClass.leased} and instance.wakes = 0
  and not instance.paused and instance.slot_key is null and instance.waiters is null
) is not true`;

/**
 * Gives up the lease until the deadline, or until now if `wakes` has changed, because the owner hasn't seen the latest event.
 * An instance with a slot gives it back and waits in line. An error says why it is held. Index: the primary key.
 */
export const PARK_INSTANCE = `
update perdure_instance set
  class = case when slot_key is null then ${WorkClass.continuing} else ${WorkClass.lineContinuing} end,
  available_at = case when paused then null when wakes = ? then ? else ? end, recoveries = 0, error = coalesce(?, error)
where ref = ?`;

/**
 * Gives a row back uncounted, due now or later. A recovered instance stays in the leased lane and keeps its slot. Index: the
 * primary key.
 */
export const RELEASE_INSTANCE = `
update perdure_instance set
  lock = null, class = case when recoveries > 0 then ${WorkClass.leased} when slot_key is null then ${WorkClass.continuing} else ${WorkClass.lineContinuing} end,
  available_at = case when paused then null else ? end, error = coalesce(?, error)
where ref = ?`;

/** Marks a failed instance as rolling back. Its owner keeps the lease. Index: the primary key. */
export const BEGIN_ROLLBACK = `update perdure_instance set rolling_back = 'errored', error = ? where ref = ?`;

/** Writes how a run ended, and when the instance may be purged. Index: the primary key. */
export const FINISH_INSTANCE = `
update perdure_instance set
  class = ${WorkClass.continuing}, available_at = null, recoveries = 0, outcome = ?1, output = ?2, error = ?3, rollback = ?4, rolling_back = null,
  finished_at = ?5, purge_at = ?5 + case ?1 when 'complete' then success_retention else error_retention end
where ref = ?6`;
