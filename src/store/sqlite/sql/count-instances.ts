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
