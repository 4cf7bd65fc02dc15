import { CLAIMED_COLUMNS } from "./claimed-columns.ts";

/** What is due in one lane, the oldest first. Index: perdure_instance_due; sleeping rows are never read. */
export const FIND_DUE_INSTANCES = `
select ${CLAIMED_COLUMNS}
from perdure_instance
where namespace = ? and class = ? and available_at <= ? and name in (select value from json_each(?))
order by available_at, ref
limit ?`;
