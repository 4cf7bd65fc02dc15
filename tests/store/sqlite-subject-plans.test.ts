import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqliteMigrations } from "../../src/store/sqlite/index.ts";
import {
  CHANGE_SUBJECT,
  CLAIM_SUBJECT,
  FIND_DUE_IN_GROUP,
  FIND_DUE_SUBJECTS,
  GET_SUBJECT,
  LIST_SUBJECTS,
  NEXT_GROUP,
  NEXT_SUBJECT_WAKE,
  REFRESH_SUBJECT,
  RENEW_SUBJECT,
  RETIRE_SUBJECTS,
} from "../../src/store/sqlite/sql/subjects.ts";
import { searchOf } from "../support/sqlite-searches.ts";

const SCOPE = "profile=? AND dispatcher_id=?";
const BY_KEY = `PRIMARY KEY (${SCOPE} AND subject_key=?)`;
const GROUP = "COVERING INDEX perdure_subject_group_due";

/** Every statement, and what it searches. */
const SEARCHES: [string, string, string][] = [
  ["find what is due", FIND_DUE_SUBJECTS, `COVERING INDEX perdure_subject_due (${SCOPE} AND available_at<?)`],
  ["find what is due in a group", FIND_DUE_IN_GROUP, `${GROUP} (${SCOPE} AND group_key=? AND available_at<?)`],
  ["find the next group", NEXT_GROUP, `${GROUP} (${SCOPE} AND group_key>?)`],
  ["next wake", NEXT_SUBJECT_WAKE, `COVERING INDEX perdure_subject_due (${SCOPE} AND available_at>?)`],
  ["claim", CLAIM_SUBJECT, BY_KEY],
  ["change", CHANGE_SUBJECT, BY_KEY],
  ["renew", RENEW_SUBJECT, BY_KEY],
  ["refresh", REFRESH_SUBJECT, BY_KEY],
  ["get", GET_SUBJECT, BY_KEY],
  ["list", LIST_SUBJECTS, `PRIMARY KEY (${SCOPE} AND subject_key>?)`],
  ["retire", RETIRE_SUBJECTS, `PRIMARY KEY (${SCOPE} AND subject_key>?)`],
];

describe("SQLite reads only what it needs of subjects", () => {
  let database: DatabaseSync;

  beforeAll(() => {
    database = new DatabaseSync(":memory:");
    database.exec(sqliteMigrations());
  });
  afterAll(() => database.close());

  describe.each(["without statistics", "with statistics of 100,000 subjects at rest"])("%s:", (knowledge) => {
    beforeAll(() => {
      if (knowledge !== "without statistics") fill(database);
    });

    test.each(SEARCHES)("%s", (_, sql, search) => {
      const steps = database.prepare(`explain query plan ${sql}`).all();
      const details = steps
        .map(({ detail }) => String(detail))
        .filter((detail) => !/VIRTUAL TABLE|SUBQUERY/.test(detail));
      const found = details.map(searchOf).filter((one) => one !== undefined);

      expect(found).toEqual([search]);
      expect(details.filter((detail) => /^SCAN|TEMP B-TREE FOR (LAST TERM OF )?ORDER BY/.test(detail))).toEqual([]);
    });
  });
});

function fill(database: DatabaseSync): void {
  database.exec(`with recursive number(value) as (select 1 union all select value + 1 from number where value < 100000)
    insert into perdure_subject (profile, dispatcher_id, subject_key, group_key, available_at, due_at, cursor, meta, created_at, updated_at)
    select 'p', 'inventory', 'resting-' || value, iif(value % 2, 'tenant-' || (value % 10), null), 4000000000000 + value,
      4000000000000 + value, '{}', '{}', 0, 0
    from number;
    analyze`);
}
