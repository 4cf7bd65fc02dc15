import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqliteMigrations } from "../../src/store/sqlite/index.ts";
import { FIND_RECIPIENT, WAKE_INSTANCE } from "../../src/store/sqlite/sql/events.ts";
import {
  DISCARD_HOOK,
  GET_HOOK,
  listHooks,
  PURGE_HOOKS,
  REDRIVE_HOOK,
} from "../../src/store/sqlite/sql/hooks-operate.ts";
import {
  CLAIM_HOOKS,
  COUNT_HOOK,
  DELETE_COMPLETED_HOOKS,
  FIND_DUE_HOOKS,
  FIND_SETTLED_HOOK,
  RENEW_HOOK,
  SETTLE_HOOK,
} from "../../src/store/sqlite/sql/hooks-run.ts";
import {
  CANCEL_TARGETS,
  cancelNextTriggers,
  cancelPendingHooks,
  FIND_TRIGGERED_HOOK,
} from "../../src/store/sqlite/sql/hooks-trigger.ts";
import {
  KEEP_PAST_RUN,
  PAUSE_INSTANCE,
  RESTART_INSTANCE,
  RESUME_INSTANCE,
  TERMINATE_INSTANCE,
} from "../../src/store/sqlite/sql/instances-change.ts";
import {
  CLAIM_INSTANCES,
  CONFIRM_INSTANCE,
  COUNT_RECOVERY,
  FIND_DUE_INSTANCES,
  REACQUIRE_INSTANCE,
  RENEW_INSTANCE,
} from "../../src/store/sqlite/sql/instances-claim.ts";
import {
  FIND_RUN,
  FINISH_INSTANCE,
  PARK_INSTANCE,
  RELEASE_INSTANCE,
} from "../../src/store/sqlite/sql/instances-commit.ts";
import { FIND_CREATED_INSTANCE } from "../../src/store/sqlite/sql/instances-create.ts";
import {
  DELETE_DEPENDENTS,
  DELETE_INSTANCE,
  DELETE_LABEL,
  FIND_PURGE,
  PURGE_INSTANCES,
  SWEEP_DEPENDENTS,
} from "../../src/store/sqlite/sql/instances-delete.ts";
import {
  COUNT_FINISHED_INSTANCES,
  COUNT_UNFINISHED_INSTANCES,
  GET_INSTANCE,
  GET_INSTANCE_BY_REF,
  listFinishedRefs,
  listRefsByLabel,
  listUnfinishedRefs,
  READ_PAST_RUNS,
  READ_POSITION,
  UNKNOWN_NAMES,
} from "../../src/store/sqlite/sql/instances-read.ts";
import {
  DELETE_ENTRIES,
  DROP_PROGRESS,
  measureHistory,
  READ_JOURNAL,
  readHistory,
} from "../../src/store/sqlite/sql/journal.ts";
import { expireLeases, findLeased, leaseTokens, nextWake } from "../../src/store/sqlite/sql/queue.ts";
import { READ_CHUNK, WIPE_RUNS, WIPE_STREAMS } from "../../src/store/sqlite/sql/streams.ts";
import { searchOf } from "../support/sqlite-searches.ts";

const BY_ID = ["PRIMARY KEY (namespace=? AND id=?)"];
const QUEUE = (range: string, table = "hook") =>
  `INDEX perdure_${table}_due (namespace=? AND class=? AND available_at${range}?)`;
const KEY = "INDEX perdure_hook_key (namespace=? AND name=? AND key=?)";

/** Every statement, and what it searches, in the order in which it does. */
const SEARCHES: [string, string, string[]][] = [
  ["find due hooks", FIND_DUE_HOOKS, [QUEUE("<")]],
  ["claim hooks", CLAIM_HOOKS, BY_ID],
  ["next wake", nextWake("perdure_hook"), [QUEUE(">")]],
  ["lease tokens", leaseTokens("perdure_hook"), [QUEUE(">")]],
  ["expire leases", expireLeases("perdure_hook"), [QUEUE(">")]],
  ["find leased hooks", findLeased("perdure_hook"), [QUEUE(">")]],
  ["count attempts", COUNT_HOOK, BY_ID],
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

const BY_REF = ["PRIMARY KEY (ref=?)"];
const BY_RUN = ["PRIMARY KEY (ref=? AND run=?)"];
const BY_NAME = ["INDEX perdure_instance_id (namespace=? AND name=? AND id=?)"];
const EVENT_OF_ENTRY = "PRIMARY KEY (ref=? AND run=?) LEFT-JOIN";
const OUTCOME = (range: string) => `INDEX perdure_instance_outcome (namespace=? AND name=? AND outcome=?${range})`;
const LABEL = (range: string) => `PRIMARY KEY (namespace=? AND name=? AND key=? AND value=?${range})`;
const PURGE = "COVERING INDEX perdure_instance_purge (namespace=? AND purge_at<?)";
const ALL = { paged: false, oneRun: false };

/** The same for instances. */
const INSTANCE_SEARCHES: [string, string, string[]][] = [
  ["find due instances", FIND_DUE_INSTANCES, [QUEUE("<", "instance")]],
  ["claim instances", CLAIM_INSTANCES, BY_REF],
  ["count a recovery", COUNT_RECOVERY, [...BY_REF, ...BY_RUN, ...BY_RUN]],
  ["next wake", nextWake("perdure_instance"), [QUEUE(">", "instance")]],
  ["lease tokens", leaseTokens("perdure_instance"), [QUEUE(">", "instance")]],
  ["expire leases", expireLeases("perdure_instance"), [QUEUE(">", "instance")]],
  ["find leased instances", findLeased("perdure_instance"), [QUEUE(">", "instance")]],
  ["confirm an instance", CONFIRM_INSTANCE, BY_REF],
  ["find which instance has an id", FIND_CREATED_INSTANCE, BY_NAME],
  ["find a run", FIND_RUN, BY_REF],
  ["read a journal", READ_JOURNAL, ["PRIMARY KEY (ref=? AND run=? AND position>?)"]],
  ["take entries back", DELETE_ENTRIES, ["PRIMARY KEY (ref=? AND run=? AND position>? AND position<?)"]],
  ["park an instance", PARK_INSTANCE, BY_REF],
  ["finish an instance", FINISH_INSTANCE, BY_REF],
  ["release an instance", RELEASE_INSTANCE, BY_REF],
  ["reacquire an instance", REACQUIRE_INSTANCE, BY_REF],
  ["renew a lease", RENEW_INSTANCE, BY_REF],
  ["find who gets an event", FIND_RECIPIENT, BY_NAME],
  ["wake an instance", WAKE_INSTANCE, BY_REF],
  ["get an instance", GET_INSTANCE, BY_NAME],
  ["pause an instance", PAUSE_INSTANCE, BY_NAME],
  ["resume an instance", RESUME_INSTANCE, BY_NAME],
  ["terminate an instance", TERMINATE_INSTANCE, BY_NAME],
  ["keep a past run", KEEP_PAST_RUN, BY_NAME],
  ["restart an instance", RESTART_INSTANCE, BY_NAME],
  ["delete an instance", DELETE_INSTANCE, BY_NAME],
  ...DELETE_DEPENDENTS.map((sql): [string, string, string[]] => [sql, sql, BY_REF]),
  ["list what is finished", listFinishedRefs({ order: "oldest", paged: false }), [`COVERING ${OUTCOME("")}`]],
  [
    "list a later page of what is finished",
    listFinishedRefs({ order: "oldest", paged: true }),
    [`COVERING ${OUTCOME(" AND ref>?")}`],
  ],
  ["list what isn't finished", listUnfinishedRefs({ order: "newest", paged: true }), [OUTCOME(" AND ref<?")]],
  [
    "list by labels",
    listRefsByLabel({ order: "newest", paged: true }),
    [LABEL(" AND ref<?"), LABEL(" AND ref=?"), ...BY_REF],
  ],
  ["get an instance by its ref", GET_INSTANCE_BY_REF, BY_REF],
  ["count what is finished", COUNT_FINISHED_INSTANCES, [`COVERING ${OUTCOME("").replace("=?)", ">?)")}`]],
  ["count what isn't finished", COUNT_UNFINISHED_INSTANCES, [OUTCOME("")]],
  ["purge instances", PURGE_INSTANCES, [...BY_REF, PURGE]],
  ["find instances to purge", FIND_PURGE, [PURGE]],
  ["delete a label", DELETE_LABEL, [LABEL(" AND ref=?")]],
  ["read the history", readHistory("oldest", ALL), [...BY_REF, EVENT_OF_ENTRY]],
  [
    "read a later page of the history",
    readHistory("oldest", { ...ALL, paged: true }),
    ["PRIMARY KEY (ref=? AND (run,position)>(?,?))", EVENT_OF_ENTRY],
  ],
  [
    "read the history of a run backwards",
    readHistory("newest", { paged: true, oneRun: true }),
    ["PRIMARY KEY (ref=? AND run=? AND position<?)", EVENT_OF_ENTRY],
  ],
  ["measure the history", measureHistory("oldest", ALL), [...BY_REF, EVENT_OF_ENTRY]],
  ["read past runs", READ_PAST_RUNS, ["PRIMARY KEY (ref=? AND run>?)"]],
  ["drop progress", DROP_PROGRESS, ["PRIMARY KEY (ref=? AND run=? AND position>?)"]],
  ["read a chunk", READ_CHUNK, ["PRIMARY KEY (ref=? AND stream=? AND number=?)"]],
  ["wipe streams", WIPE_STREAMS, ["PRIMARY KEY (ref=? AND stream>? AND stream<?)"]],
  ["wipe streams of runs", WIPE_RUNS, ["PRIMARY KEY (ref=?)"]],
  ["read a position", READ_POSITION, [...BY_REF, "PRIMARY KEY (ref=? AND run=?)"]],
  [
    "find unknown names",
    UNKNOWN_NAMES,
    [
      "COVERING INDEX perdure_instance_id (namespace=?)",
      "COVERING INDEX perdure_instance_id (namespace=? AND name>?)",
      OUTCOME(""),
    ],
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

    test.each([...SEARCHES, ...INSTANCE_SEARCHES])("%s", (_, sql, searches) => {
      const steps = database.prepare(`explain query plan ${sql}`).all();
      const details = steps
        .map(({ detail }) => String(detail))
        .filter((detail) => !/VIRTUAL TABLE|SUBQUERY|SCAN workflow/.test(detail));

      const found = details.map(searchOf).filter((search) => search !== undefined);
      expect(found).toEqual(searches);
      expect(details.filter((detail) => /^SCAN|TEMP B-TREE FOR (LAST TERM OF )?ORDER BY/.test(detail))).toEqual([]);
    });

    test.each(SWEEP_DEPENDENTS)("of what one instance has left: %s", (sql) => {
      const steps = database.prepare(`explain query plan ${sql}`).all();
      const details = steps.map(({ detail }) => String(detail)).filter((detail) => /SEARCH|SCAN/.test(detail));

      expect(details.length).toBeGreaterThan(1);
      for (const detail of details) expect(detail).toMatch(/^SEARCH .*\(ref=\?/);
    });
  });
});

function fill(database: DatabaseSync): void {
  database.exec(`with recursive number(value) as (select 1 union all select value + 1 from number where value < 100000)
    insert into perdure_hook
      (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at, key)
    select 'app', 'sleeping-' || value, 'greet', '{}', 0, 0, 0, 1, 4000000000000 + value, iif(value % 2, value, null)
    from number;
    with recursive number(value) as (select 1 union all select value + 1 from number where value < 100000)
    insert into perdure_instance (ref, namespace, name, id, class, available_at, created_at, params)
    select 'ref-' || value, 'app', 'checkout', value, 0, 4000000000000 + value, 0, '{}' from number;
    insert into perdure_journal (ref, run, position, kind, type, name, count, attempt, at)
    select ref, run, 1, 'completed', 'do', 'charge', 1, 1, 0 from perdure_instance;
    insert into perdure_event (ref, run, id, sequence, type, payload, at)
    select ref, run, 'event', 1, 'approved', '{}', 0 from perdure_instance;
    analyze`);
}
