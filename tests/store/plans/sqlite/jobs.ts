import type { DatabaseSync } from "node:sqlite";
import {
  CANCEL_JOB,
  CLAIM_JOB,
  FIND_HELD_JOB,
  GET_JOB,
  INSERT_JOB,
  LIST_JOBS,
  PURGE_JOBS,
  WRITE_JOB,
} from "../../../../src/store/sqlite/sql/jobs.ts";
import type { PlannedStatement, PlannedTables } from "./searches.ts";

const BY_ID = ["PRIMARY KEY (namespace=? AND id=?)"];

const STATEMENTS: PlannedStatement[] = [
  ["insert a job", INSERT_JOB, []],
  ["claim a job", CLAIM_JOB, BY_ID],
  ["find a job that is held", FIND_HELD_JOB, BY_ID],
  ["write a job", WRITE_JOB, BY_ID],
  ["cancel a job", CANCEL_JOB, BY_ID],
  ["get a job", GET_JOB, BY_ID],
  ["list jobs", LIST_JOBS, ["PRIMARY KEY (namespace=? AND id<?)"]],
  ["purge jobs", PURGE_JOBS, [...BY_ID, "INDEX perdure_job_ended (namespace=? AND ended_at<?)"]],
];

export const JOBS: PlannedTables = { rows: "10,000 jobs", fill, statements: STATEMENTS };

/** Most have ended. */
function fill(database: DatabaseSync): void {
  database.exec(`with recursive number(value) as (select 1 union all select value + 1 from number where value < 10000)
    insert into perdure_job (namespace, id, request, progress, started_at, available_at, ended_at)
    select 'app', 'job-' || value, '{}', '{}', value, iif(value % 100, null, value), iif(value % 100, value, null) from number;
    analyze`);
}
