import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqliteMigrations } from "../../src/store/sqlite/index.ts";
import { cancelNextTriggers } from "../../src/store/sqlite/sql/cancel-next-triggers.ts";
import { cancelPendingHooks } from "../../src/store/sqlite/sql/cancel-pending-hooks.ts";
import { CANCEL_TARGETS } from "../../src/store/sqlite/sql/cancel-targets.ts";
import { CLAIM_HOOKS } from "../../src/store/sqlite/sql/claim-hooks.ts";
import { CLAIM_INSTANCES } from "../../src/store/sqlite/sql/claim-instances.ts";
import { CONFIRM_INSTANCE } from "../../src/store/sqlite/sql/confirm-instance.ts";
import { COUNT_HOOK } from "../../src/store/sqlite/sql/count-hook.ts";
import { COUNT_FINISHED_INSTANCES, COUNT_UNFINISHED_INSTANCES } from "../../src/store/sqlite/sql/count-instances.ts";
import { COUNT_RECOVERY } from "../../src/store/sqlite/sql/count-recovery.ts";
import { DELETE_BELONGINGS } from "../../src/store/sqlite/sql/delete-belongings.ts";
import { DELETE_COMPLETED_HOOKS } from "../../src/store/sqlite/sql/delete-completed-hooks.ts";
import { DELETE_ENTRIES } from "../../src/store/sqlite/sql/delete-entries.ts";
import { DELETE_INSTANCE } from "../../src/store/sqlite/sql/delete-instance.ts";
import { DELETE_LABEL } from "../../src/store/sqlite/sql/delete-label.ts";
import { DISCARD_HOOK } from "../../src/store/sqlite/sql/discard-hook.ts";
import { DROP_PROGRESS } from "../../src/store/sqlite/sql/drop-progress.ts";
import { expireLeases } from "../../src/store/sqlite/sql/expire-leases.ts";
import { FIND_CREATED_INSTANCE } from "../../src/store/sqlite/sql/find-created-instance.ts";
import { FIND_DUE_HOOKS } from "../../src/store/sqlite/sql/find-due-hooks.ts";
import { FIND_DUE_INSTANCES } from "../../src/store/sqlite/sql/find-due-instances.ts";
import { findLeased } from "../../src/store/sqlite/sql/find-leased.ts";
import { FIND_PURGE } from "../../src/store/sqlite/sql/find-purge.ts";
import { FIND_RECIPIENT } from "../../src/store/sqlite/sql/find-recipient.ts";
import { FIND_RUN } from "../../src/store/sqlite/sql/find-run.ts";
import { FIND_SETTLED_HOOK } from "../../src/store/sqlite/sql/find-settled-hook.ts";
import { FIND_TRIGGERED_HOOK } from "../../src/store/sqlite/sql/find-triggered-hook.ts";
import { FINISH_INSTANCE } from "../../src/store/sqlite/sql/finish-instance.ts";
import { GET_HOOK } from "../../src/store/sqlite/sql/get-hook.ts";
import { GET_INSTANCE } from "../../src/store/sqlite/sql/get-instance.ts";
import { GET_INSTANCE_BY_REF } from "../../src/store/sqlite/sql/get-instance-by-ref.ts";
import { KEEP_PAST_RUN } from "../../src/store/sqlite/sql/keep-past-run.ts";
import { leaseTokens } from "../../src/store/sqlite/sql/lease-tokens.ts";
import { listHooks } from "../../src/store/sqlite/sql/list-hooks.ts";
import { listFinishedRefs, listRefsByLabel, listUnfinishedRefs } from "../../src/store/sqlite/sql/list-refs.ts";
import { nextWake } from "../../src/store/sqlite/sql/next-wake.ts";
import { PARK_INSTANCE } from "../../src/store/sqlite/sql/park-instance.ts";
import { PAUSE_INSTANCE } from "../../src/store/sqlite/sql/pause-instance.ts";
import { PURGE_HOOKS } from "../../src/store/sqlite/sql/purge-hooks.ts";
import { PURGE_INSTANCES } from "../../src/store/sqlite/sql/purge-instances.ts";
import { REACQUIRE_INSTANCE } from "../../src/store/sqlite/sql/reacquire-instance.ts";
import { READ_CHUNK } from "../../src/store/sqlite/sql/read-chunk.ts";
import { readHistory } from "../../src/store/sqlite/sql/read-history.ts";
import { READ_JOURNAL } from "../../src/store/sqlite/sql/read-journal.ts";
import { READ_PAST_RUNS } from "../../src/store/sqlite/sql/read-past-runs.ts";
import { READ_POSITION } from "../../src/store/sqlite/sql/read-position.ts";
import { REDRIVE_HOOK } from "../../src/store/sqlite/sql/redrive-hook.ts";
import { RELEASE_INSTANCE } from "../../src/store/sqlite/sql/release-instance.ts";
import { RENEW_HOOK } from "../../src/store/sqlite/sql/renew-hook.ts";
import { RENEW_INSTANCE } from "../../src/store/sqlite/sql/renew-instance.ts";
import { RESTART_INSTANCE } from "../../src/store/sqlite/sql/restart-instance.ts";
import { RESUME_INSTANCE } from "../../src/store/sqlite/sql/resume-instance.ts";
import { SETTLE_HOOK } from "../../src/store/sqlite/sql/settle-hook.ts";
import { SWEEP_BELONGINGS } from "../../src/store/sqlite/sql/sweep-belongings.ts";
import { TERMINATE_INSTANCE } from "../../src/store/sqlite/sql/terminate-instance.ts";
import { UNKNOWN_NAMES } from "../../src/store/sqlite/sql/unknown-names.ts";
import { WAKE_INSTANCE } from "../../src/store/sqlite/sql/wake-instance.ts";
import { WIPE_RUNS, WIPE_STREAMS } from "../../src/store/sqlite/sql/wipe-streams.ts";
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
  ...DELETE_BELONGINGS.map((sql): [string, string, string[]] => [sql, sql, BY_REF]),
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

    test.each(SWEEP_BELONGINGS)("of what one instance has left: %s", (sql) => {
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
