import { WorkClass } from "../../queue/work-class.ts";

/** What a run's owner must know. Index: the primary key. */
export const FIND_RUN = `select class, lock, wakes, paused, slot_key from perdure_instance where ref = ? and run = ?`;

/**
 * Nobody's until it is due: at once, if something came in that its owner hasn't seen. What has a slot gives it back, and waits in
 * line. Index: the primary key.
 */
export const PARK_INSTANCE = `
update perdure_instance set
  class = case when slot_key is null then ${WorkClass.continuing} else ${WorkClass.lineContinuing} end,
  available_at = case when paused then null when wakes = ? then ? else ? end, recoveries = 0
where ref = ?`;

/** Due at once or later, for anybody. What was recovered stays in the lane of its kind, with its slot. Index: the primary key. */
export const RELEASE_INSTANCE = `
update perdure_instance set
  lock = null, class = case when recoveries > 0 then ${WorkClass.leased} when slot_key is null then ${WorkClass.continuing} else ${WorkClass.lineContinuing} end,
  available_at = case when paused then null else ? end
where ref = ?`;

/** It has failed, and stays with its owner while it is rolled back. Index: the primary key. */
export const BEGIN_ROLLBACK = `update perdure_instance set rolling_back = 'errored', error = ? where ref = ?`;

/** Index: the primary key. */
export const FINISH_INSTANCE = `
update perdure_instance set
  class = ${WorkClass.continuing}, available_at = null, recoveries = 0, outcome = ?1, output = ?2, error = ?3, rollback = ?4, rolling_back = null,
  finished_at = ?5, purge_at = ?5 + case ?1 when 'complete' then success_retention else error_retention end
where ref = ?6`;
