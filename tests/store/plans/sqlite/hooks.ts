import type { DatabaseSync } from "node:sqlite";
import { COUNT_DEAD_LETTERS, countLanes } from "../../../../src/store/sqlite/sql/backlog.ts";
import {
  COUNT_HELD_HOOKS,
  COUNT_HOOKS_AHEAD,
  FIND_HOOKS_IN_LINE,
  FORGET_HOOK_STARTS,
  NEXT_HOOK_KEY,
} from "../../../../src/store/sqlite/sql/hook-lines.ts";
import {
  DISCARD_HOOK,
  GET_HOOK,
  HOOK_STATISTICS,
  listHooks,
  PURGE_HOOKS,
  REDRIVE_HOOK,
  searchHooks,
} from "../../../../src/store/sqlite/sql/hooks-operate.ts";
import {
  CLAIM_HOOKS,
  COUNT_HOOK,
  DELETE_COMPLETED_HOOKS,
  FIND_DUE_HOOKS,
  FIND_LOST_HOOKS,
  FIND_SETTLED_HOOK,
  RENEW_HOOK,
  SETTLE_HOOK,
} from "../../../../src/store/sqlite/sql/hooks-run.ts";
import {
  CANCEL_TARGETS,
  cancelNextTriggers,
  cancelPendingHooks,
  FIND_TRIGGERED_HOOK,
  INSERT_HOOK,
  INSERT_KEYED_HOOK,
} from "../../../../src/store/sqlite/sql/hooks-trigger.ts";
import { expireLeases, findLeased, leaseTokens, nextWake } from "../../../../src/store/sqlite/sql/queue.ts";
import {
  BEGIN_REQUEST,
  FIND_REQUEST,
  FINISH_REQUEST,
  FORGET_EXPIRED_REQUESTS,
  FORGET_REQUEST,
} from "../../../../src/store/sqlite/sql/requests.ts";
import type { PlannedStatement, PlannedTables } from "./searches.ts";

const BY_ID = ["PRIMARY KEY (namespace=? AND id=?)"];
const QUEUE = (range: string) => `INDEX perdure_hook_due (namespace=? AND class=? AND available_at${range}?)`;
const LINE = (rest: string) => `INDEX perdure_hook_line (namespace=? AND ${rest})`;
const KEY = "INDEX perdure_hook_key (namespace=? AND name=? AND key=?)";

const BY_REQUEST = ["PRIMARY KEY (namespace=? AND key=?)"];

const SEARCH = { order: "oldest", paged: true, prefixed: true, failed: false } as const;

const STATEMENTS: PlannedStatement[] = [
  ["find due hooks", FIND_DUE_HOOKS, [QUEUE("<")]],
  ["find due hooks that have not lost an owner", FIND_LOST_HOOKS, [QUEUE("<")]],
  ["claim hooks", CLAIM_HOOKS, BY_ID],
  ["find the next wake of hooks", nextWake("perdure_hook", { unclaimed: false }), [QUEUE(">")]],
  [
    "find the next wake of hooks, and the names of due rows",
    nextWake("perdure_hook", { unclaimed: true }),
    [QUEUE(">"), QUEUE("<"), "INDEX perdure_instance_due (namespace=? AND class=? AND available_at<?)"],
  ],
  ["find the next key of hooks in line", NEXT_HOOK_KEY, [`COVERING ${LINE("line_key>?")}`]],
  ["count the slots that hooks hold", COUNT_HELD_HOOKS, [`COVERING ${LINE("line_key=? AND class>? AND class<?")}`]],
  [
    "count the hooks ahead in line",
    COUNT_HOOKS_AHEAD,
    [`COVERING ${LINE("line_key=? AND class=? AND available_at>? AND (available_at,id)<(?,?)")}`],
  ],
  ["find hooks in line", FIND_HOOKS_IN_LINE, [LINE("line_key=? AND class=? AND available_at<?")]],
  [
    "forget starts of hooks",
    FORGET_HOOK_STARTS,
    ["PRIMARY KEY (key=? AND at=? AND ref=? AND run=?)", "PRIMARY KEY (key>? AND key<?)"],
  ],
  ["find the lease tokens of hooks", leaseTokens("perdure_hook"), [QUEUE(">")]],
  ["expire leases of hooks", expireLeases("perdure_hook"), [QUEUE(">")]],
  ["find leased hooks", findLeased("perdure_hook"), [QUEUE(">")]],
  ["count attempts", COUNT_HOOK, BY_ID],
  ["renew the lease of a hook", RENEW_HOOK, BY_ID],
  ["settle a hook", SETTLE_HOOK, BY_ID],
  ["delete completed hooks", DELETE_COMPLETED_HOOKS, BY_ID],
  ["find a settled hook", FIND_SETTLED_HOOK, BY_ID],
  ["insert a hook", INSERT_HOOK, []],
  ["insert a hook with a key", INSERT_KEYED_HOOK, []],
  ["find a triggered hook", FIND_TRIGGERED_HOOK, [...BY_ID, KEY]],
  ["get a hook", GET_HOOK, BY_ID],
  ["count hooks by status", HOOK_STATISTICS, ["PRIMARY KEY (namespace=?)"]],
  ["count the lanes of hooks", countLanes("perdure_hook"), ["<", ">", ">"].map((range) => `COVERING ${QUEUE(range)}`)],
  ["count dead letters", COUNT_DEAD_LETTERS, ["INDEX perdure_hook_failed (namespace=?)"]],
  ["discard a hook", DISCARD_HOOK, BY_ID],
  ["redrive a hook", REDRIVE_HOOK, [...BY_ID, KEY]],
  ["cancel a hook by its id", cancelPendingHooks(CANCEL_TARGETS.id), BY_ID],
  ["cancel hooks by their key", cancelPendingHooks(CANCEL_TARGETS.key), [KEY]],
  ["cancel the next triggers of a running hook by its key", cancelNextTriggers(CANCEL_TARGETS.key), [KEY]],
  ["purge hooks", PURGE_HOOKS, [...BY_ID, "INDEX perdure_hook_completed (namespace=? AND purge_at<?)"]],
  ["list hooks", listHooks(null, "oldest", { paged: false }), ["PRIMARY KEY (namespace=?)"]],
  ["list a later page of hooks", listHooks(null, "oldest", { paged: true }), ["PRIMARY KEY (namespace=? AND id>?)"]],
  ["list hooks backwards", listHooks(null, "newest", { paged: true }), ["PRIMARY KEY (namespace=? AND id<?)"]],
  [
    "list dead letters",
    listHooks("failed", "newest", { paged: true }),
    ["INDEX perdure_hook_failed (namespace=? AND id<?)"],
  ],
  ["search hooks", searchHooks({ ...SEARCH, prefixed: false }), ["PRIMARY KEY (namespace=? AND id>?)"]],
  [
    "search hooks by the beginning of their ids",
    searchHooks({ ...SEARCH, paged: false }),
    ["PRIMARY KEY (namespace=? AND id>? AND id<?)"],
  ],
  [
    "search dead letters",
    searchHooks({ ...SEARCH, prefixed: false, failed: true }),
    ["INDEX perdure_hook_failed (namespace=? AND id>?)"],
  ],
  ["find a request", FIND_REQUEST, BY_REQUEST],
  ["begin a request", BEGIN_REQUEST, []],
  ["finish a request", FINISH_REQUEST, BY_REQUEST],
  ["forget a request", FORGET_REQUEST, BY_REQUEST],
  [
    "forget expired requests",
    FORGET_EXPIRED_REQUESTS,
    [...BY_REQUEST, "COVERING INDEX perdure_request_expiry (expires_at<?)"],
  ],
];

export const HOOKS: PlannedTables = { rows: "100,000 sleeping hooks", fill, statements: STATEMENTS };

function fill(database: DatabaseSync): void {
  database.exec(`with recursive number(value) as (select 1 union all select value + 1 from number where value < 100000)
    insert into perdure_hook
      (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at, key)
    select iif(value % 4, 'app', 'other-' || value % 100), 'sleeping-' || value, 'greet', '{}', 0, 0, 0, 1, 4000000000000 + value, iif(value % 2, value, null)
    from number;
    insert into perdure_request (namespace, key, fingerprint, target, expires_at)
    select 'app', id, '', '', available_at from perdure_hook;
    analyze`);
}
