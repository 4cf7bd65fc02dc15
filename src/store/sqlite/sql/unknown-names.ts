import { WITH_WORKFLOW_NAMES } from "./workflow-names.ts";

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
