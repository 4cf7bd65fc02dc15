import type { Client } from "pg";
import type { InstanceInsert } from "../../src/store/instances/instance-records.ts";
import { NO_TRAITS } from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import type { LineLimits } from "../../src/store/lines/line-records.ts";
import { describeMisledPlans, type PlannedStatement } from "../support/misled-plans.ts";
import { NAMED } from "../support/named.ts";
import { recordInstanceStatements } from "../support/postgres-plans.ts";

/** A hundred thousand instances are blocked in one line: who claims, or admits from another line, must not notice. */

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
      room: 100,
      lock: "me",
      leaseMs: 1000,
    }),
  );

const instance = (use: (instances: InstanceStatements) => Promise<unknown>) => () => recordInstanceStatements(use);

const inserts = Array.from(
  { length: 100 },
  (_, index): InstanceInsert => ({
    namespace: "app",
    name: "checkout",
    id: `new-${index}`,
    ref: `new-${index}`,
    params: "{}",
    parent: null,
    traits: { ...NO_TRAITS, slotKey: BUSY, labels: '{"tenant":"a"}' },
    lease: null,
  }),
);

const RATE = { limit: 150, periodMs: 60_000 };
const LINE = ["line_due", "line_pkey"];
const FEW = 500;

const STATEMENTS: PlannedStatement[] = [
  [
    "claim",
    instance((instances) => instances.claim({ scopes, limit: 50, takeOver: true, lock: "me", leaseMs: 1000 })),
    ["instance_due", "journal_pkey"],
    FEW,
  ],
  ["next wake", instance((instances) => instances.nextWake(scopes, { takeOver: true })), ["instance_due"], FEW],
  ["next admission", instance((instances) => instances.nextAdmission(scopes)), ["line_due"], FEW],
  ["admission to slots", admit("checkout", { slots: 5, starts: null }), [...LINE, "instance_slots"], FEW],
  [
    "admission to slots and starts",
    admit("checkout", { slots: 5, starts: RATE }),
    [...LINE, "instance_pkey", "instance_slots", "start_pkey"],
    FEW,
  ],
  [
    "admission to starts",
    admit("refund", { slots: null, starts: RATE }),
    [...LINE, "instance_pkey", "instance_slots", "instance_starts", "start_pkey"],
    FEW,
  ],
  [
    "admission to slots of the long line",
    admit("long checkout", { slots: 50, starts: null }),
    [...LINE, "instance_slots"],
  ],
  [
    "admission to slots and starts of the long line",
    admit("long checkout", { slots: 50, starts: RATE }),
    [...LINE, "instance_pkey", "instance_slots", "start_pkey"],
  ],
  [
    "admission to starts of the long line",
    admit("long refund", { slots: null, starts: RATE }),
    [...LINE, "instance_pkey", "instance_slots", "instance_starts", "start_pkey"],
  ],
  [
    "commit that lets go of slots",
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
  ["create in line", instance((instances) => instances.insert(inserts)), ["instance_id"], FEW],
  [
    "terminate",
    instance((instances) => instances.terminate(busyOne)),
    ["instance_id", "instance_pkey", "line_pkey"],
    FEW,
  ],
  ["restart", instance((instances) => instances.restart(busyOne)), ["instance_id", "instance_pkey", "line_pkey"], FEW],
];

describeMisledPlans({
  about: "lines",
  tables: ["instance", "journal", "line", "start"].map((table) => `perdure.${table}`),
  fill: (client, size) => fill(client, { few: 50, some: 1000, many: 100_000 }[size]),
  statements: STATEMENTS,
  mostRows: 5000,
});

/**
 * Many in one line of slots, of which a few hold some, with rates of which a tenth is used; a tenth as many in one line of starts; a
 * tenth as many lines of one each, of which some are due; a few that are the first of their rates; and a few that no limit holds back.
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
