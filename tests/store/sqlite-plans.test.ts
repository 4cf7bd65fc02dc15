import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqliteMigrations } from "../../src/store/sqlite/index.ts";
import { cancelNextTriggers } from "../../src/store/sqlite/sql/cancel-next-triggers.ts";
import { cancelPendingHooks } from "../../src/store/sqlite/sql/cancel-pending-hooks.ts";
import { CANCEL_TARGETS } from "../../src/store/sqlite/sql/cancel-targets.ts";
import { CLAIM_HOOKS } from "../../src/store/sqlite/sql/claim-hooks.ts";
import { DELETE_COMPLETED_HOOKS } from "../../src/store/sqlite/sql/delete-completed-hooks.ts";
import { DISCARD_HOOK } from "../../src/store/sqlite/sql/discard-hook.ts";
import { expireLeases } from "../../src/store/sqlite/sql/expire-leases.ts";
import { FIND_DUE_HOOKS } from "../../src/store/sqlite/sql/find-due-hooks.ts";
import { FIND_SETTLED_HOOK } from "../../src/store/sqlite/sql/find-settled-hook.ts";
import { FIND_TRIGGERED_HOOK } from "../../src/store/sqlite/sql/find-triggered-hook.ts";
import { GET_HOOK } from "../../src/store/sqlite/sql/get-hook.ts";
import { leaseTokens } from "../../src/store/sqlite/sql/lease-tokens.ts";
import { listHooks } from "../../src/store/sqlite/sql/list-hooks.ts";
import { nextWake } from "../../src/store/sqlite/sql/next-wake.ts";
import { PURGE_HOOKS } from "../../src/store/sqlite/sql/purge-hooks.ts";
import { REDRIVE_HOOK } from "../../src/store/sqlite/sql/redrive-hook.ts";
import { RENEW_HOOK } from "../../src/store/sqlite/sql/renew-hook.ts";
import { SETTLE_HOOK } from "../../src/store/sqlite/sql/settle-hook.ts";

const BY_ID = ["PRIMARY KEY (namespace=? AND id=?)"];
const QUEUE = (range: string) => `INDEX perdure_hook_due (namespace=? AND class=? AND available_at${range}?)`;
const KEY = "INDEX perdure_hook_key (namespace=? AND name=? AND key=?)";

/** Every statement, and what it searches, in the order in which it does. */
const SEARCHES: [string, string, string[]][] = [
  ["find due hooks", FIND_DUE_HOOKS, [QUEUE("<")]],
  ["claim hooks", CLAIM_HOOKS, BY_ID],
  ["next wake", nextWake("perdure_hook"), [QUEUE(">")]],
  ["lease tokens", leaseTokens("perdure_hook"), [QUEUE(">")]],
  ["expire leases", expireLeases("perdure_hook"), [QUEUE(">")]],
  ["renew a lease", RENEW_HOOK, BY_ID],
  ["settle a hook", SETTLE_HOOK, BY_ID],
  ["delete completed hooks", DELETE_COMPLETED_HOOKS, BY_ID],
  ["find a settled hook", FIND_SETTLED_HOOK, BY_ID],
  ["find a triggered hook", FIND_TRIGGERED_HOOK, [...BY_ID, KEY]],
  ["get a hook", GET_HOOK, BY_ID],
  ["discard a hook", DISCARD_HOOK, BY_ID],
  ["redrive a hook", REDRIVE_HOOK, [...BY_ID, KEY]],
  ["cancel by id", cancelPendingHooks(CANCEL_TARGETS.id), BY_ID],
  ["cancel by key", cancelPendingHooks(CANCEL_TARGETS.key), [KEY]],
  ["cancel what follows by key", cancelNextTriggers(CANCEL_TARGETS.key), [KEY]],
  ["purge", PURGE_HOOKS, [...BY_ID, "INDEX perdure_hook_completed (namespace=? AND purge_at<?)"]],
  ["list", listHooks(null, "oldest", { paged: false }), ["PRIMARY KEY (namespace=?)"]],
  ["list a later page", listHooks(null, "oldest", { paged: true }), ["PRIMARY KEY (namespace=? AND id>?)"]],
  ["list backwards", listHooks(null, "newest", { paged: true }), ["PRIMARY KEY (namespace=? AND id<?)"]],
  [
    "list dead letters",
    listHooks("failed", "newest", { paged: true }),
    ["INDEX perdure_hook_failed (namespace=? AND id<?)"],
  ],
];

describe("SQLite reads only what it needs", () => {
  let database: DatabaseSync;

  beforeAll(() => {
    database = new DatabaseSync(":memory:");
    database.exec(sqliteMigrations());
  });
  afterAll(() => database.close());

  describe.each(["without statistics", "with statistics of 100,000 sleeping hooks"])("%s:", (knowledge) => {
    beforeAll(() => {
      if (knowledge !== "without statistics") fill(database);
    });

    it.each(SEARCHES)("%s", (_, sql, searches) => {
      const steps = database.prepare(`explain query plan ${sql}`).all();
      const details = steps
        .map(({ detail }) => String(detail))
        .filter((detail) => !/VIRTUAL TABLE|SUBQUERY/.test(detail));

      const found = details.map((detail) => / USING (.*)$/.exec(detail)?.[1]).filter((search) => search !== undefined);
      expect(found).toEqual(searches);
      expect(details.filter((detail) => /^SCAN|TEMP B-TREE FOR (LAST TERM OF )?ORDER BY/.test(detail))).toEqual([]);
    });
  });
});

function fill(database: DatabaseSync): void {
  database.exec(`with recursive number(value) as (select 1 union all select value + 1 from number where value < 100000)
    insert into perdure_hook
      (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at, key)
    select 'app', 'sleeping-' || value, 'greet', '{}', 0, 0, 0, 1, 4000000000000 + value, iif(value % 2, value, null)
    from number;
    analyze`);
}
