const JOB = "namespace, id, actor, request, progress, lock, started_at, ended_at, cancelled";

/** Adds a job, unless it is there. Index: the primary key. */
export const INSERT_JOB = `
insert into perdure_job (namespace, id, actor, request, progress, started_at, available_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?6)
on conflict do nothing`;

/** Gives a due job an owner. Index: the primary key. */
export const CLAIM_JOB = `
update perdure_job set lock = ?3, available_at = ?4 + ?5
where namespace = ?1 and id = ?2 and available_at <= ?4
returning ${JOB}`;

/** An owner's job. Index: the primary key. */
export const FIND_HELD_JOB = `
select 1 from perdure_job where namespace = ?1 and id = ?2 and lock = ?3`;

/** What an owner writes. Index: the primary key. */
export const WRITE_JOB = `
update perdure_job set progress = ?4, lock = iif(?5 = 'held', lock, null),
  available_at = case ?5 when 'held' then ?6 + ?7 when 'released' then ?6 end, ended_at = iif(?5 = 'ended', ?6, null)
where namespace = ?1 and id = ?2 and lock = ?3
returning cancelled`;

/** Cancels a job that hasn't ended. Index: the primary key. */
export const CANCEL_JOB = `
update perdure_job set cancelled = 1, available_at = iif(lock is null, null, available_at), ended_at = iif(lock is null, ?3, null)
where namespace = ?1 and id = ?2 and ended_at is null and not cancelled`;

/** One job. Index: the primary key. */
export const GET_JOB = `
select ${JOB} from perdure_job where namespace = ?1 and id = ?2`;

/** One page of jobs, the newest first. Index: the primary key. */
export const LIST_JOBS = `
select ${JOB} from perdure_job where namespace = ?1 and id < ?2
order by id desc
limit ?3`;

/** Deletes jobs that ended long ago. Indexes: perdure_job_ended, the primary key. */
export const PURGE_JOBS = `
delete from perdure_job where namespace = ?1 and id in (
  select id from perdure_job where namespace = ?1 and ended_at < ?2 order by ended_at limit ?3
)`;
