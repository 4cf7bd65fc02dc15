import { describe, expect, test } from "vitest";
import { PerdureError } from "../errors.ts";
import { refuseTransactionControl } from "./transaction-control.ts";

describe("the check of statements in a transaction", () => {
  test.each([
    "commit",
    "  COMMIT;",
    "begin",
    "Begin Immediate",
    "rollback",
    "rollback work",
    "end",
    "abort",
    "start  transaction isolation level serializable",
    "prepare transaction 'x'",
    "-- a comment\ncommit",
    "/* a comment */ rollback;",
    "select 1; commit",
    "insert into notes values ('it''s; fine'); commit; select 1",
    "select $$ ; $$; commit",
  ])("refuses %s", (text) => {
    expect(() => refuseTransactionControl(text)).toThrow(PerdureError);
  });

  test.each([
    "select 1",
    "savepoint a",
    "rollback to a",
    "rollback to savepoint a",
    "rollback work to savepoint a",
    "release a",
    "update beginnings set commits = 1",
    "insert into notes values ('a; commit')",
    "select 1 -- ; commit",
    "select 1 /* ; commit */",
    'select "; commit"',
    "do $body$ begin perform 1; end $body$",
    "select $1::text",
  ])("takes %s", (text) => {
    refuseTransactionControl(text);
  });
});
