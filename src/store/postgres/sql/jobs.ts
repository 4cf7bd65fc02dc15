import { foundRows, IN_QUEUE_ORDER, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

const JOB =
  "job.namespace, job.id, job.actor, job.request, job.progress, job.lock, job.started_at, job.ended_at, job.cancelled";

/** Adds a job, unless it is there. Index: job_pkey. */
export function insertJob(schema: SchemaPrefix): Statement {
  return {
    name: "insert_job",
    text: `
insert into ${schema}job (namespace, id, actor, request, progress, started_at, available_at)
select $2::text, $3::text, $4::text, $5::text, $6::text, clock.now, clock.now from (select ${NOW} as now) as clock
on conflict do nothing`,
  };
}

/** Gives a due job an owner. Index: job_pkey. */
export function claimJob(schema: SchemaPrefix): Statement {
  return {
    name: "claim_job",
    text: `
update ${schema}job as job set lock = $4::text, available_at = ${NOW} + $5::bigint
where job.namespace = $2 and job.id = $3 and job.available_at <= ${NOW}
returning ${JOB}`,
  };
}

/** Keeps a job with its owner until the end of the transaction. Index: job_pkey. */
export function holdJob(schema: SchemaPrefix): Statement {
  return {
    name: "hold_job",
    text: `select 1 from ${schema}job as job where job.namespace = $1 and job.id = $2 and job.lock = $3 for update`,
  };
}

/** What an owner writes. Index: job_pkey. */
export function writeJob(schema: SchemaPrefix): Statement {
  return {
    name: "write_job",
    text: `
update ${schema}job as job set
  progress = $5::text, lock = case when $6::text = 'held' then job.lock end,
  available_at = case $6::text when 'held' then ${NOW} + $7::bigint when 'released' then ${NOW} end,
  ended_at = case when $6::text = 'ended' then ${NOW} end
where job.namespace = $2 and job.id = $3 and job.lock = $4
returning job.cancelled`,
  };
}

/** Cancels a job that hasn't ended. Index: job_pkey. */
export function cancelJob(schema: SchemaPrefix): Statement {
  return {
    name: "cancel_job",
    text: `
update ${schema}job as job set
  cancelled = true, available_at = case when job.lock is not null then job.available_at end,
  ended_at = case when job.lock is null then ${NOW} end
where job.namespace = $2 and job.id = $3 and job.ended_at is null and not job.cancelled`,
  };
}

/** One job. Index: job_pkey. */
export function getJob(schema: SchemaPrefix): Statement {
  return {
    name: "get_job",
    text: `select ${JOB} from ${schema}job as job where job.namespace = $1 and job.id = $2`,
  };
}

/** One page of jobs, the newest first. Index: job_pkey. */
export function listJobs(schema: SchemaPrefix): Statement {
  return {
    name: "list_jobs",
    text: `
select ${JOB} from ${schema}job as job where job.namespace = $1 and job.id < $2
order by job.id desc
limit $3`,
  };
}

/** Deletes jobs that ended long ago. Index: job_ended. */
export function purgeJobs(schema: SchemaPrefix): Statement {
  const ended = `
  select job.ctid from ${schema}job as job
  where job.namespace = $2 ${IN_QUEUE_ORDER} and job.ended_at < ${NOW} - $3::bigint
  order by job.ended_at limit $4 for update skip locked`;
  return {
    name: "purge_jobs",
    text: `delete from ${schema}job as job using ${foundRows(ended)} as found where job.ctid = found.ctid`,
  };
}
