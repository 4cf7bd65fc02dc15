import type { DatabaseSync } from "node:sqlite";
import { LineKind } from "../../../../src/store/lines/line-records.ts";
import { FIND_RANK } from "../../../../src/store/sqlite/sql/instances-change.ts";
import {
  COUNT_HELD,
  COUNT_SLOTS_HELD,
  COUNT_STARTS,
  countAhead,
  countWaiting,
  DROP_LINE,
  FIND_ANY_LINE,
  FIND_CANDIDATE,
  FIND_CONTINUING,
  FIND_LINES,
  FIND_START,
  FORGET_STARTS,
  FREE_SLOT,
  findLeft,
  findStarts,
  INSERT_START,
  JOIN_LINE,
  LIST_HOLDERS,
  LIST_LINES,
  listWaiting,
  NEXT_IN_LINE,
  NEXT_LINE,
  OPEN_LINES,
  READ_LINE,
  SETTLE_LINE,
} from "../../../../src/store/sqlite/sql/lines.ts";
import {
  CONFIRM_SCHEDULE,
  FIRE_SCHEDULE,
  INSERT_SCHEDULE,
  LIST_SCHEDULES,
  PAUSE_SCHEDULES,
  RESUME_SCHEDULE,
  RETIRE_SCHEDULE,
} from "../../../../src/store/sqlite/sql/schedules.ts";
import { BEAT_WORKER, LIST_WORKERS, REMOVE_WORKER, SWEEP_WORKERS } from "../../../../src/store/sqlite/sql/workers.ts";
import type { PlannedStatement, PlannedTables } from "./searches.ts";

const LINE = "PRIMARY KEY (kind=? AND key=?)";
const SLOTS = (range: string) => `INDEX perdure_instance_slots (slot_key=? AND class${range})`;
const DUE = (range: string) => `INDEX perdure_line_due (namespace=? AND available_at${range}?)`;
const SCHEDULE = "PRIMARY KEY (namespace=? AND workflow=? AND name=? AND cron=? AND timezone=?)";

const STATEMENTS: PlannedStatement[] = [
  ["find lines", FIND_LINES, [DUE("<")]],
  ["find the next due line", NEXT_LINE, [DUE(">")]],
  ["join a line", JOIN_LINE, []],
  ["open all lines", OPEN_LINES, ["SCAN perdure_line"]],
  ["find any line", FIND_ANY_LINE, ["SCAN perdure_line"]],
  ["settle a line", SETTLE_LINE, [LINE]],
  ["free a slot", FREE_SLOT, [LINE]],
  ["drop a line", DROP_LINE, [LINE, `COVERING ${SLOTS(">?")}`]],
  ["count held slots", COUNT_HELD, [`COVERING ${SLOTS(">? AND class<?")}`]],
  ["find members that continue", FIND_CONTINUING, [SLOTS("=? AND available_at<?")]],
  ["find when the next member continues", NEXT_IN_LINE, [`COVERING ${SLOTS("=? AND available_at>?")}`]],
  [
    "find a member that is left in a line of slots",
    findLeft(LineKind.slots),
    [`COVERING ${SLOTS("=? AND available_at>?")}`],
  ],
  [
    "find a member that is left in a line of starts",
    findLeft(LineKind.starts),
    ["INDEX perdure_instance_starts (rate_key=? AND class=? AND available_at>?)"],
  ],
  ["find members that may start in a line of slots", findStarts(LineKind.slots), [SLOTS("=? AND available_at>?")]],
  [
    "find members that may start in a line of starts",
    findStarts(LineKind.starts),
    ["INDEX perdure_instance_starts (rate_key=? AND class=? AND available_at>?)"],
  ],
  [
    "count those ahead in a line of slots",
    countAhead(LineKind.slots),
    [`COVERING ${SLOTS("=? AND (available_at,ref)<(?,?))").replace("))", ")")}`],
  ],
  [
    "count those ahead in a line of starts",
    countAhead(LineKind.starts),
    ["INDEX perdure_instance_starts (rate_key=? AND class=? AND (available_at,ref)<(?,?))"],
  ],
  ["count the slots that are held", COUNT_SLOTS_HELD, [`COVERING ${SLOTS(">? AND class<?")}`]],
  ["read a line", READ_LINE, [LINE]],
  ["list lines", LIST_LINES, ["PRIMARY KEY (kind=? AND key>?)"]],
  ["list those inside a line", LIST_HOLDERS, [SLOTS(">? AND class<?")]],
  ["list those that wait in a line of slots", listWaiting(LineKind.slots), [SLOTS("=? AND available_at<?")]],
  [
    "list those that wait in a line of starts",
    listWaiting(LineKind.starts),
    ["INDEX perdure_instance_starts (rate_key=? AND class=? AND available_at<?)"],
  ],
  [
    "count those that wait in a line of slots",
    countWaiting(LineKind.slots),
    [`COVERING ${SLOTS("=? AND available_at<?")}`],
  ],
  [
    "count those that wait in a line of starts",
    countWaiting(LineKind.starts),
    ["INDEX perdure_instance_starts (rate_key=? AND class=? AND available_at<?)"],
  ],
  ["find a candidate", FIND_CANDIDATE, ["PRIMARY KEY (ref=?)"]],
  ["forget starts", FORGET_STARTS, ["PRIMARY KEY (key=? AND at<?)"]],
  ["count one start", INSERT_START, []],
  ["count starts", COUNT_STARTS, ["PRIMARY KEY (key=?)"]],
  ["find a start", FIND_START, ["PRIMARY KEY (key=?)"]],
  ["find the rank of an instance", FIND_RANK, ["INDEX perdure_instance_id (namespace=? AND name=? AND id=?)"]],
  ["list schedules", LIST_SCHEDULES, ["PRIMARY KEY (namespace=?)"]],
  ["insert a schedule", INSERT_SCHEDULE, ["PRIMARY KEY (namespace=? AND workflow=? AND name=?)"]],
  ["fire a schedule", FIRE_SCHEDULE, [SCHEDULE]],
  ["confirm a schedule", CONFIRM_SCHEDULE, [SCHEDULE]],
  ["retire a schedule", RETIRE_SCHEDULE, [SCHEDULE]],
  ["resume a schedule", RESUME_SCHEDULE, [SCHEDULE]],
  ["write a heartbeat", BEAT_WORKER, []],
  ["sweep workers", SWEEP_WORKERS, ["PRIMARY KEY (id=?)", "COVERING INDEX perdure_worker_seen (seen_at<?)"]],
  ["remove a worker", REMOVE_WORKER, ["PRIMARY KEY (id=?)"]],
  [
    "list workers",
    LIST_WORKERS,
    ["INDEX perdure_worker_seen (seen_at>?)", "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"],
  ],
  ["pause schedules", PAUSE_SCHEDULES, ["PRIMARY KEY (namespace=? AND workflow=?)"]],
];

export const LINES: PlannedTables = { rows: "100,000 blocked instances", fill, statements: STATEMENTS };

/** In one line, of which one has a slot; a tenth as many in one of starts; and a tenth as many lines. */
function fill(database: DatabaseSync): void {
  database.exec(`with recursive number(value) as (select 1 union all select value + 1 from number where value < 100000)
    insert into perdure_instance (ref, namespace, name, id, class, available_at, created_at, params, slot_key, rate_key)
    select 'ref-' || value, 'app', 'checkout', value, iif(value = 1, 2, 6), value, 0, '{}',
      iif(value % 10, 'app/checkout', null), 'app/checkout' from number;
    insert into perdure_line (kind, key, namespace, name, available_at, blocked)
    select 0, ref, namespace, name, iif(available_at % 20, available_at, null), 1 from perdure_instance where slot_key is null;
    insert into perdure_start (key, at, ref, run)
    select 'app/checkout', available_at, ref, 1 from perdure_instance where slot_key is null;
    insert into perdure_schedule (namespace, workflow, name, cron, timezone, confirmed_at)
    select 'app', 'checkout', ref, '* * * * *', 'UTC', 0 from perdure_instance where slot_key is null;
    insert into perdure_worker (id, host, version, hook_slots, workflow_slots, started_at, seen_at, work)
    select ref, '', '', 1, 1, 0, available_at, '{}' from perdure_instance where slot_key is null;
    analyze`);
}
