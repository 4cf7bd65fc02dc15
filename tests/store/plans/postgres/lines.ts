import type { Client } from "pg";

import type { InstanceInsert } from "../../../../src/store/instances/instance-records.ts";
import { NO_TRAITS } from "../../../../src/store/instances/instance-records.ts";
import type { LineLimits } from "../../../../src/store/lines/line-records.ts";
import type { PostgresInstanceStatements } from "../../../../src/store/postgres/instances/instance-statements.ts";
import { changeInstance } from "../../../../src/store/postgres/sql/instances/instance-changes.ts";
import { giveUpSlot } from "../../../../src/store/postgres/sql/instances/instance-deletes.ts";
import { tellNotedLines } from "../../../../src/store/postgres/sql/tell-lines.ts";
import { WorkClass } from "../../../../src/store/queue/work-class.ts";
import { endingTrigger } from "../../../../src/workflows/define/terminal-hooks.ts";
import { NAMED } from "../../../support/named.ts";
import { ALL_ROWS, type PlannedStatement, type PlannedTables } from "./misled-plans.ts";
import { recordInstanceStatements, recordOne } from "./recorded-statements.ts";

/** A hundred thousand instances are blocked in one line: claims, and admissions from other lines, must not read them. */

const scopes = [{ namespace: "app", names: ["checkout", "refund"] }];
const BUSY = "app/checkout/busy";
const busyOne = { namespace: "app", name: "checkout", id: "id-holding-000001" };
const LEASE = { ref: "parked-000001", run: 1, lock: "lock-1" };

/** Lines have the name of a workflow, so that a test says by these names which lines it looks at. */
const admit = (name: string, limits: LineLimits) => () =>
  recordInstanceStatements((instances) =>
    instances.admit({
      scopes: [{ namespace: "app", names: [name, "other"] }],
      limitsOf: () => limits,
      versionsOf: () => [0],
      room: 100,
      lock: "me",
      leaseMs: 1000,
    }),
  );

const endedHook = (run: number) => endingTrigger({ ...busyOne, run }, "terminated", null, () => "the hook of its end");

const instance = (use: (instances: PostgresInstanceStatements) => Promise<unknown>) => () =>
  recordInstanceStatements(use);

const stands = (slotKey: string | null, rateKey: string | null) => () =>
  recordInstanceStatements((instances) => instances.situation("holding-000001"), {
    read_slot_line: () => [{ ahead: 0, held: 0, available_at: null }],
    read_start_line: () => [{ ahead: 0, held: 0, available_at: null }],
    read_situation: () => [
      {
        now: 1e13,
        ref: "zzz",
        class: WorkClass.lineFresh,
        lock: null,
        available_at: 1e12,
        slot_key: slotKey,
        rate_key: rateKey,
      },
    ],
  });

const inserts = Array.from(
  { length: 100 },
  (_, index): InstanceInsert => ({
    namespace: "app",
    name: "checkout",
    id: `new-${index}`,
    ref: `new-${index}`,
    params: "{}",
    version: 0,
    parent: null,
    traits: { ...NO_TRAITS, slotKey: BUSY, labels: '{"tenant":"a"}' },
    lease: null,
  }),
);

const RATE = { limit: 150, periodMs: 60_000 };
const LINE = ["line_due", "line_pkey"];
const FEW = 500;
/** PostgreSQL sorts all lines of a kind, one for each key in use, if its statistics say that there are few. */
const LISTED = 15_000;

const STATEMENTS: PlannedStatement[] = [
  [
    "claim instances",
    instance((instances) => instances.claim({ scopes, limit: 50, takeOver: true, lock: "me", leaseMs: 1000 })),
    ["instance_due", "journal_pkey"],
    FEW,
  ],
  [
    "find the next wake of instances",
    instance((instances) => instances.nextWake(scopes, { takeOver: true })),
    ["instance_due"],
    FEW,
  ],
  ["find the next admission", instance((instances) => instances.nextAdmission(scopes)), ["line_due"], FEW],
  ["admit to slots", admit("checkout", { slots: 5, starts: null }), [...LINE, "instance_slots"], FEW],
  [
    "admit to slots and starts",
    admit("checkout", { slots: 5, starts: RATE }),
    [...LINE, "instance_pkey", "instance_slots", "start_pkey"],
    FEW,
  ],
  [
    "admit to starts",
    admit("refund", { slots: null, starts: RATE }),
    [...LINE, "instance_pkey", "instance_slots", "instance_starts", "start_pkey"],
    FEW,
  ],
  ["admit to slots of the long line", admit("long checkout", { slots: 50, starts: null }), [...LINE, "instance_slots"]],
  [
    "admit to slots and starts of the long line",
    admit("long checkout", { slots: 50, starts: RATE }),
    [...LINE, "instance_pkey", "instance_slots", "start_pkey"],
  ],
  [
    "admit to starts of the long line",
    admit("long refund", { slots: null, starts: RATE }),
    [...LINE, "instance_pkey", "instance_slots", "instance_starts", "start_pkey"],
  ],
  [
    "commit instances that free their slots",
    instance((instances) =>
      instances.commit(
        Array.from({ length: 20 }, (_, index) => ({
          ref: `holding-${String(index + 1).padStart(6, "0")}`,
          run: 1,
          lock: "lock-1",
          instance: NAMED,
          position: 1,
          entries: [],
          outcome: { kind: "completed", output: "{}" },
          limited: true,
        })),
        { resent: false },
      ),
    ),
    ["instance_pkey", "line_pkey"],
    FEW,
  ],
  [
    "reacquire a slot",
    instance((instances) => instances.reacquire(LEASE, { lock: "me", leaseMs: 1, slots: { key: BUSY, limit: 100 } })),
    ["instance_pkey", "instance_slots"],
    FEW,
  ],
  [
    "read where an instance stands in a line of slots",
    stands(BUSY, null),
    ["instance_pkey", "instance_slots", "line_pkey"],
    3000,
  ],
  [
    "read where an instance stands in a line of starts",
    stands(null, "app/refund"),
    ["instance_pkey", "instance_starts", "line_pkey"],
    3000,
  ],
  [
    "list lines of slots",
    instance((instances) => instances.lines({ namespace: "app", kind: 0, after: "", limit: 20, members: 10 })),
    ["instance_slots", "line_pkey"],
    LISTED,
  ],
  [
    "list lines of starts",
    instance((instances) => instances.lines({ namespace: "app", kind: 1, after: "", limit: 20, members: 10 })),
    ["instance_starts", "line_pkey"],
    LISTED,
  ],
  ["create instances in line", instance((instances) => instances.insert(inserts)), ["instance_id"], FEW],
  [
    "terminate an instance that holds a slot",
    instance((instances) => instances.terminate(busyOne)),
    ["instance_id", "instance_pkey", "line_pkey"],
    FEW,
  ],
  [
    "terminate an instance that holds a slot, with a hook",
    instance((instances) => instances.terminate({ ...busyOne, only: { ref: "holding-000001", run: 1 } }, endedHook)),
    ["instance_id", "instance_pkey", "line_pkey"],
    FEW,
  ],
  [
    "delete an instance that holds a slot",
    instance((instances) => instances.delete(busyOne)),
    ["event_pkey", "instance_id", "journal_pkey", "label_pkey", "line_pkey", "past_run_pkey", "stream_chunk_pkey"],
    FEW,
  ],
  [
    "restart an instance that holds a slot",
    instance((instances) => instances.restart(busyOne)),
    ["instance_id", "instance_pkey", "line_pkey"],
    FEW,
  ],
  [
    "join lines after a transaction of the application",
    instance((instances) => instances.joinLines({} as never, ["blocked-000001", "starting-000001"])),
    ["instance_pkey"],
    FEW,
  ],
  [
    "give up the slot of an instance that is deleted",
    recordOne(giveUpSlot, ["app", "checkout", "id-holding-000001", null, null]),
    ["instance_id", "instance_pkey"],
    FEW,
  ],
  [
    "terminate an instance that holds a slot, in a transaction",
    recordOne(
      (schema) => changeInstance(schema, "terminate", { later: true }),
      [null, "app", "checkout", "id-holding-000001", null, null],
    ),
    ["instance_id", "instance_pkey"],
    FEW,
  ],
  ["tell the lines of a transaction", recordOne(tellNotedLines, [null]), [], FEW],
  ["open all lines", instance((instances) => instances.openLines(["app"])), ["line_pkey"], ALL_ROWS],
];

export const LINES: PlannedTables = {
  tables: ["instance", "journal", "line", "start"].map((table) => `perdure.${table}`),
  fill: (client, size) => fill(client, { few: 50, some: 1000, many: 100_000 }[size]),
  statements: STATEMENTS,
  mostRows: 5000,
};

/**
 * Many in one line of slots, of which a few hold some, with rates of which a tenth is used; a tenth as many in one line of
 * starts; a tenth as many lines of one each, of which some are due; a few that are the first of their rates; and a few that no
 * limit holds back.
 */
async function fill(client: Client, many: number): Promise<void> {
  const some = many / 10;
  await client.query(
    `insert into perdure.instance
      (ref, namespace, name, id, params, created_at, started_at, class, available_at, lock, slot_key, rate_key)
    select ref, 'app', case when kind in ('starting', 'first') then 'refund' else 'checkout' end, 'id-' || ref, '{}', 0, 0,
      case kind when 'holding' then 2 when 'parked' then 5 when 'due' then 1 else 6 end,
      case when kind in ('holding', 'parked') then 4000000000000 + number when kind = 'due' then number else -1000000000000000 + number end,
      case when kind in ('holding', 'parked') then 'lock-1' end,
      case when kind = 'quiet' then 'app/checkout/quiet-' || number when kind not in ('starting', 'first', 'due') then 'app/checkout/busy' end,
      case when kind in ('quiet', 'first') then 'app/refund/quiet-' || number when kind = 'starting' then 'app/refund/busy'
        when kind = 'blocked' then 'app/refund/quiet-' || number % 20 + 1 end
    from (values ('blocked', $1::int), ('starting', $2::int), ('quiet', $2::int), ('parked', $2::int), ('first', 20), ('holding', 20), ('due', 40))
        as kinds(kind, count),
      generate_series(1, count) as number, lateral (select kind || '-' || lpad(number::text, 6, '0') as ref) as made`,
    [many, some],
  );
  await client.query(
    `insert into perdure.line (kind, key, namespace, name, blocked, available_at)
    select kind, 'app/' || name || '/quiet-' || number, 'app', name, number > 20, case when number <= 20 then number when number % 2 = 0 then 4000000000000 end
    from (values (0, 'checkout'), (1, 'refund')) as kinds(kind, name), generate_series(1, $1::int) as number
    union all values (0, 'app/checkout/busy', 'app', 'long checkout', true, 1::bigint),
      (1, 'app/refund/busy', 'app', 'long refund', true, 1)`,
    [some],
  );
  await client.query(
    `insert into perdure.start (key, at, ref, run)
    select 'app/refund/quiet-' || number, 4000000000000 + number, 'gone-' || number, 1 from generate_series(1, $1::int) as number
    union all select 'app/refund/busy', 4000000000000 + number, 'gone-' || number, 1 from generate_series(1, 100) as number`,
    [some],
  );
}
