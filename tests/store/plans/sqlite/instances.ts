import type { DatabaseSync } from "node:sqlite";
import { countLanes } from "../../../../src/store/sqlite/sql/backlog.ts";
import {
  COUNT_PENDING_EVENTS,
  FIND_ENDED_TOKEN,
  FIND_EVENT,
  FIND_RECIPIENT,
  INSERT_EVENT,
  READ_EVENTS,
  READ_UNRECEIVED_EVENTS,
  WAKE_INSTANCE,
} from "../../../../src/store/sqlite/sql/events.ts";
import {
  FIND_DEADLINES,
  KEEP_PAST_RUN,
  PAUSE_INSTANCE,
  RESTART_INSTANCE,
  RESUME_INSTANCE,
  ROLL_BACK_INSTANCE,
  TERMINATE_INSTANCE,
  TIME_OUT_INSTANCE,
} from "../../../../src/store/sqlite/sql/instances-change.ts";
import {
  CLAIM_INSTANCES,
  CONFIRM_INSTANCE,
  COUNT_RECOVERY,
  FIND_DUE_INSTANCES,
  FIND_LOST_INSTANCES,
  REACQUIRE_INSTANCE,
  RENEW_INSTANCE,
} from "../../../../src/store/sqlite/sql/instances-claim.ts";
import {
  BEGIN_ROLLBACK,
  FIND_EXCEPTIONS,
  FIND_RUN,
  FINISH_INSTANCE,
  PARK_INSTANCE,
  RELEASE_INSTANCE,
} from "../../../../src/store/sqlite/sql/instances-commit.ts";
import {
  FIND_CREATED_INSTANCE,
  INSERT_INSTANCE,
  INSERT_LABEL,
  INSERT_SPECIAL_INSTANCE,
} from "../../../../src/store/sqlite/sql/instances-create.ts";
import {
  DELETE_DEPENDENTS,
  DELETE_INSTANCE,
  DELETE_LABEL,
  FIND_DELETED_INSTANCE,
  FIND_PURGE,
  FORGET_DELETED_INSTANCE,
  MARK_DELETED,
  PURGE_INSTANCES,
} from "../../../../src/store/sqlite/sql/instances-delete.ts";
import {
  COUNT_FINISHED_INSTANCES,
  COUNT_HELD_INSTANCES,
  COUNT_LABELLED_INSTANCES,
  COUNT_VERSIONS,
  COUNT_WAITING_INSTANCES,
  GET_INSTANCE,
  GET_INSTANCE_BY_REF,
  listFinishedRefs,
  listHeldRefs,
  listRefsByLabel,
  listWaitingRefs,
  READ_PAST_RUNS,
  READ_POSITION,
  READ_SITUATION,
  reachOfFinished,
  reachOfLabel,
  reachOfWaiting,
  UNKNOWN_NAMES,
  WORKFLOW_NAMES,
} from "../../../../src/store/sqlite/sql/instances-read.ts";
import { COMPARE_INSTANCES, FIND_REFS_BY_ID, filterRefs } from "../../../../src/store/sqlite/sql/instances-search.ts";
import {
  DELETE_ENTRIES,
  DROP_PROGRESS,
  INSERT_ENTRY,
  KEEP_ENTRIES,
  KEEP_EVENTS,
  measureHistory,
  READ_JOURNAL,
  readHistory,
} from "../../../../src/store/sqlite/sql/journal.ts";
import { expireLeases, findLeased, leaseTokens, nextWake } from "../../../../src/store/sqlite/sql/queue.ts";
import { READ_CHUNK, WIPE_RUNS, WIPE_STREAMS, WRITE_CHUNK } from "../../../../src/store/sqlite/sql/streams.ts";
import { FIND_AWAITED, FIND_WAITER, WRITE_WAITERS } from "../../../../src/store/sqlite/sql/waiters.ts";
import type { PlannedStatement, PlannedTables } from "./searches.ts";

const QUEUE = (range: string) => `INDEX perdure_instance_due (namespace=? AND class=? AND available_at${range}?)`;
const BY_REF = ["PRIMARY KEY (ref=?)"];
const BY_RUN = ["PRIMARY KEY (ref=? AND run=?)"];
const BY_NAME = ["INDEX perdure_instance_id (namespace=? AND name=? AND id=?)"];
const EVENT_OF_ENTRY = "PRIMARY KEY (ref=? AND run=?) LEFT-JOIN";
const FINISHED = (range: string) => `INDEX perdure_instance_finished (namespace=? AND name=? AND outcome=?${range})`;
const WAITING = (range: string) => `INDEX perdure_instance_waiting (namespace=? AND name=? AND status=?${range})`;
const LABEL = (range: string) => `PRIMARY KEY (namespace=? AND name=? AND key=? AND value=?${range})`;
const PURGE = "COVERING INDEX perdure_instance_purge (namespace=? AND purge_at<?)";
const SORT = "USE TEMP B-TREE FOR ORDER BY";
const ALL = { paged: false, oneRun: false };

const NAMES = [
  "COVERING INDEX perdure_instance_id (namespace=?)",
  "COVERING INDEX perdure_instance_id (namespace=? AND name>?)",
];

const STATEMENTS: PlannedStatement[] = [
  ["find due instances that have not lost an owner", FIND_LOST_INSTANCES, [QUEUE("<")]],
  ["find due instances", FIND_DUE_INSTANCES, [QUEUE("<")]],
  ["claim instances", CLAIM_INSTANCES, BY_REF],
  ["count a recovery", COUNT_RECOVERY, [...BY_REF, ...BY_RUN, ...BY_RUN]],
  [
    "count the lanes of instances",
    countLanes("perdure_instance"),
    ["<", ">", ">"].map((range) => `COVERING ${QUEUE(range)}`),
  ],
  ["find the next wake of instances", nextWake("perdure_instance", { unclaimed: false }), [QUEUE(">")]],
  ["find the lease tokens of instances", leaseTokens("perdure_instance"), [QUEUE(">")]],
  ["expire leases of instances", expireLeases("perdure_instance"), [QUEUE(">")]],
  ["find leased instances", findLeased("perdure_instance"), [QUEUE(">")]],
  ["confirm an instance", CONFIRM_INSTANCE, BY_REF],
  ["create an instance", INSERT_INSTANCE, []],
  ["create an instance with traits", INSERT_SPECIAL_INSTANCE, []],
  ["count instances by labels", COUNT_LABELLED_INSTANCES, [LABEL(" AND ref>?"), LABEL(" AND ref=?"), ...BY_REF]],
  ["add a label", INSERT_LABEL, []],
  ["find the instance that has an id", FIND_CREATED_INSTANCE, BY_NAME],
  ["find a run", FIND_RUN, BY_REF],
  ["find what an owner must know of some instances", FIND_EXCEPTIONS, ["SCAN owner", "PRIMARY KEY (ref=?) LEFT-JOIN"]],
  ["read a journal", READ_JOURNAL, ["PRIMARY KEY (ref=? AND run=? AND position>?)"]],
  [
    "remove the entries of a refused commit",
    DELETE_ENTRIES,
    ["PRIMARY KEY (ref=? AND run=? AND position>? AND position<?)"],
  ],
  ["add an entry", INSERT_ENTRY, []],
  ["begin a rollback", BEGIN_ROLLBACK, BY_REF],
  ["park an instance", PARK_INSTANCE, BY_REF],
  ["finish an instance", FINISH_INSTANCE, BY_REF],
  ["release an instance", RELEASE_INSTANCE, BY_REF],
  ["reacquire an instance", REACQUIRE_INSTANCE, BY_REF],
  ["renew the lease of an instance", RENEW_INSTANCE, BY_REF],
  ["find the recipient of an event", FIND_RECIPIENT, BY_NAME],
  ["find the end of a token", FIND_ENDED_TOKEN, ["PRIMARY KEY (ref=? AND run=?)"]],
  ["find an event", FIND_EVENT, ["PRIMARY KEY (ref=? AND run=? AND id=?)"]],
  ["count pending events", COUNT_PENDING_EVENTS, [...BY_RUN, ...BY_RUN]],
  ["insert an event", INSERT_EVENT, []],
  ["read events in order", READ_EVENTS, [...BY_RUN, SORT]],
  [
    "read the events that no step has received",
    READ_UNRECEIVED_EVENTS,
    [...BY_RUN, ...BY_RUN, SORT, "SCAN unreceived", "PRIMARY KEY (ref=? AND run=? AND id=?)", SORT],
  ],
  ["find an instance to wait for", FIND_AWAITED, BY_NAME],
  ["write the waiters of an instance", WRITE_WAITERS, BY_REF],
  ["find a waiting run", FIND_WAITER, BY_REF],
  ["wake an instance", WAKE_INSTANCE, BY_REF],
  ["get an instance", GET_INSTANCE, BY_NAME],
  ["pause an instance", PAUSE_INSTANCE, BY_NAME],
  ["resume an instance", RESUME_INSTANCE, BY_NAME],
  ["terminate an instance", TERMINATE_INSTANCE, BY_NAME],
  ["time out an instance", TIME_OUT_INSTANCE, [...BY_NAME, ...Array.from({ length: 6 }, () => BY_RUN).flat()]],
  ["roll back an instance", ROLL_BACK_INSTANCE, [...BY_NAME, ...Array.from({ length: 6 }, () => BY_RUN).flat()]],
  ["keep a past run", KEEP_PAST_RUN, BY_NAME],
  ["keep entries for the next run", KEEP_ENTRIES, ["PRIMARY KEY (ref=? AND run=? AND position=?)"]],
  ["keep events for the next run", KEEP_EVENTS, [...BY_RUN, "PRIMARY KEY (ref=? AND run=? AND position=?)"]],
  ["restart an instance", RESTART_INSTANCE, BY_NAME],
  ["mark an instance as deleted", MARK_DELETED, []],
  ["find a deleted instance", FIND_DELETED_INSTANCE, ["PRIMARY KEY (ref>?)"]],
  ["forget a deleted instance", FORGET_DELETED_INSTANCE, BY_REF],
  ["delete an instance", DELETE_INSTANCE, BY_NAME],
  ...DELETE_DEPENDENTS.map((sql): PlannedStatement => [sql, sql, BY_REF]),
  [
    "list finished instances",
    listFinishedRefs({ order: "oldest", paged: false, ended: false }),
    [`COVERING ${FINISHED("")}`],
  ],
  [
    "list a later page of finished instances",
    listFinishedRefs({ order: "oldest", paged: true, ended: false }),
    [`COVERING ${FINISHED(" AND ref>?")}`],
  ],
  ["list waiting instances", listWaitingRefs({ order: "newest", paged: true, ended: false }), [WAITING(" AND ref<?")]],
  [
    "list held instances",
    listHeldRefs({ order: "newest", paged: true, ended: false }),
    [QUEUE(">"), "USE TEMP B-TREE FOR ORDER BY"],
  ],
  [
    "list instances by labels",
    listRefsByLabel({ order: "newest", paged: true, ended: false }),
    [LABEL(" AND ref<?"), LABEL(" AND ref=?"), ...BY_REF],
  ],
  [
    "list a page of finished instances that ends early",
    listFinishedRefs({ order: "newest", paged: true, ended: true }),
    [`COVERING ${FINISHED(" AND ref>? AND ref<?")}`],
  ],
  [
    "list a page of waiting instances that ends early",
    listWaitingRefs({ order: "oldest", paged: true, ended: true }),
    [WAITING(" AND ref>? AND ref<?")],
  ],
  [
    "list a page of labelled instances that ends early",
    listRefsByLabel({ order: "newest", paged: false, ended: true }),
    [LABEL(" AND ref>?"), LABEL(" AND ref=?"), ...BY_REF],
  ],
  [
    "find how far a list of finished instances comes",
    reachOfFinished({ order: "newest", paged: false }),
    [`COVERING ${FINISHED("")}`],
  ],
  [
    "find how far a list of waiting instances comes",
    reachOfWaiting({ order: "oldest", paged: true }),
    [WAITING(" AND ref>?")],
  ],
  [
    "find how far a list of labelled instances comes",
    reachOfLabel({ order: "newest", paged: true }),
    [LABEL(" AND ref<?")],
  ],
  ["filter some instances", filterRefs({ order: "newest", paged: true }), [...BY_REF, LABEL(" AND ref=?"), SORT]],
  [
    "find instances by the beginning of their ids",
    FIND_REFS_BY_ID,
    ["INDEX perdure_instance_id (namespace=? AND name=? AND id>? AND id<?)"],
  ],
  ["compare instances", COMPARE_INSTANCES, [...BY_REF, ...BY_RUN, "SCAN recent"]],
  ["get an instance by its ref", GET_INSTANCE_BY_REF, BY_REF],
  ["count finished instances", COUNT_FINISHED_INSTANCES, [`COVERING ${FINISHED("")}`]],
  ["count waiting instances", COUNT_WAITING_INSTANCES, [WAITING("")]],
  ["count held instances", COUNT_HELD_INSTANCES, [QUEUE(">")]],
  ["count unfinished instances by version", COUNT_VERSIONS, [WAITING(""), QUEUE(">")]],
  ["purge instances", PURGE_INSTANCES, [...BY_REF, PURGE]],
  ["find deadlines", FIND_DEADLINES, ["INDEX perdure_instance_deadline (namespace=? AND deadline>?)"]],
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
  ["write a chunk", WRITE_CHUNK, []],
  ["read a chunk", READ_CHUNK, ["PRIMARY KEY (ref=? AND stream=? AND number=?)"]],
  ["wipe streams", WIPE_STREAMS, ["PRIMARY KEY (ref=? AND stream>? AND stream<?)"]],
  ["wipe streams of runs", WIPE_RUNS, ["PRIMARY KEY (ref=?)"]],
  ["read a position", READ_POSITION, [...BY_REF, "PRIMARY KEY (ref=? AND run=?)"]],
  ["read where an instance stands", READ_SITUATION, ["PRIMARY KEY (ref=?)"]],
  ["list the names of workflows", WORKFLOW_NAMES, NAMES],
  ["find unknown names", UNKNOWN_NAMES, [...NAMES, WAITING(""), QUEUE(">")]],
];

export const INSTANCES: PlannedTables = { rows: "100,000 sleeping instances", fill, statements: STATEMENTS };

function fill(database: DatabaseSync): void {
  database.exec(`with recursive number(value) as (select 1 union all select value + 1 from number where value < 100000)
    insert into perdure_instance (ref, namespace, name, id, class, available_at, created_at, params)
    select 'ref-' || value, 'app', 'checkout', value, 0, 4000000000000 + value, 0, '{}' from number;
    insert into perdure_journal (ref, run, position, kind, type, name, count, attempt, at)
    select ref, run, 1, 'completed', 'do', 'charge', 1, 1, 0 from perdure_instance;
    insert into perdure_event (ref, run, id, sequence, type, payload, at)
    select ref, run, 'event', 1, 'approved', '{}', 0 from perdure_instance;
    analyze`);
}
