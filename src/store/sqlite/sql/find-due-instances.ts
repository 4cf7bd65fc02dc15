import { CLAIMED_COLUMNS } from "./claimed-columns.ts";

const findDueInstances = (condition: string) => `
select ${CLAIMED_COLUMNS}
from perdure_instance
where namespace = ? and class = ? and available_at <= ? and name in (select value from json_each(?))${condition}
order by available_at, ref
limit ?`;

/** What is due in one lane, the oldest first. Index: perdure_instance_due; sleeping rows are never read. */
export const FIND_DUE_INSTANCES: string = findDueInstances("");

/** The same of what wasn't lost before. */
export const FIND_LOST_INSTANCES: string = findDueInstances(" and recoveries = 0");
