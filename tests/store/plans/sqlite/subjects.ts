import type { DatabaseSync } from "node:sqlite";
import {
  CHANGE_SUBJECT,
  CLAIM_SUBJECT,
  FIND_DUE_IN_GROUP,
  FIND_DUE_SUBJECTS,
  FREE_SUBJECTS,
  GET_SUBJECT,
  INSERT_SUBJECT,
  LIST_SUBJECTS,
  NEXT_GROUP,
  NEXT_SUBJECT_WAKE,
  REFRESH_SUBJECT,
  RENEW_SUBJECT,
  RETIRE_SUBJECTS,
} from "../../../../src/store/sqlite/sql/subjects.ts";
import type { PlannedStatement, PlannedTables } from "./searches.ts";

const SCOPE = "profile=? AND dispatcher_id=?";
const BY_KEY = [`PRIMARY KEY (${SCOPE} AND subject_key=?)`];
const GROUP = "COVERING INDEX perdure_subject_group_due";

const STATEMENTS: PlannedStatement[] = [
  ["find due subjects", FIND_DUE_SUBJECTS, [`COVERING INDEX perdure_subject_due (${SCOPE} AND available_at<?)`]],
  ["find due subjects of a group", FIND_DUE_IN_GROUP, [`${GROUP} (${SCOPE} AND group_key=? AND available_at<?)`]],
  ["find the next group", NEXT_GROUP, [`${GROUP} (${SCOPE} AND group_key>?)`]],
  [
    "find the next wake of subjects",
    NEXT_SUBJECT_WAKE,
    [`COVERING INDEX perdure_subject_due (${SCOPE} AND available_at>?)`],
  ],
  ["insert a subject", INSERT_SUBJECT, []],
  ["claim a subject", CLAIM_SUBJECT, BY_KEY],
  ["change a subject", CHANGE_SUBJECT, BY_KEY],
  ["renew the lease of a subject", RENEW_SUBJECT, BY_KEY],
  ["refresh a subject", REFRESH_SUBJECT, BY_KEY],
  ["get a subject", GET_SUBJECT, BY_KEY],
  ["list subjects", LIST_SUBJECTS, [`PRIMARY KEY (${SCOPE} AND subject_key>?)`]],
  ["retire subjects", RETIRE_SUBJECTS, [`PRIMARY KEY (${SCOPE} AND subject_key>?)`]],
  ["expire the leases of all subjects", FREE_SUBJECTS, ["SCAN perdure_subject"]],
];

export const SUBJECTS: PlannedTables = { rows: "100,000 subjects at rest", fill, statements: STATEMENTS };

function fill(database: DatabaseSync): void {
  database.exec(`with recursive number(value) as (select 1 union all select value + 1 from number where value < 100000)
    insert into perdure_subject (profile, dispatcher_id, subject_key, group_key, available_at, due_at, cursor, meta, created_at, updated_at)
    select 'p', 'inventory', 'resting-' || value, iif(value % 2, 'tenant-' || (value % 10), null), 4000000000000 + value,
      4000000000000 + value, '{}', '{}', 0, 0
    from number;
    analyze`);
}
