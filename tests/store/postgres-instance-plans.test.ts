import type { Client } from "pg";
import {
  INSTANCE_STATUSES,
  type InstanceFilter,
  type InstanceOutcome,
  type NewEntry,
} from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { describeMisledPlans } from "../support/misled-plans.ts";
import { NAMED } from "../support/named.ts";
import { recordInstanceStatements } from "../support/postgres-plans.ts";

const BATCH = 500;

const scopes = [{ namespace: "app", names: ["checkout", "refund"] }];
const leases = Array.from({ length: BATCH }, (_, index) => ({
  ref: refOf("running", index + 1),
  run: 1,
  lock: `lock-${index % 10}`,
}));
const names = leases.map(({ ref }) => ({ namespace: "app", name: "checkout", id: `id-${ref}` }));
const one = { namespace: "app", name: "checkout", id: `id-${refOf("running", 1)}` };

const PLAIN: NewEntry = {
  kind: "completed",
  type: "do",
  name: "charge",
  count: 1,
  attempt: 1,
  value: "{}",
  dueAt: null,
  event: null,
  parent: null,
};
const commit = (outcome: InstanceOutcome, entry: NewEntry, resent: boolean) => (instances: InstanceStatements) =>
  instances.commit(
    leases.map((lease) => ({ ...lease, instance: NAMED, position: 3, entries: [entry, entry], outcome })),
    { resent },
  );

type Use = (instances: InstanceStatements) => Promise<unknown>;
const FIND = ["instance_id"];
const LOCK = ["instance_pkey"];
const PAUSE = ["instance_id", "instance_pkey"];
const CHANGE = [...PAUSE, "line_pkey"];

const LIST = ["instance_pkey", "instance_status"];
const LABELLED = ["instance_pkey", "label_pkey"];

const list =
  (filter: Partial<InstanceFilter>): Use =>
  (instances) =>
    instances.list({
      namespace: "app",
      name: "checkout",
      statuses: INSTANCE_STATUSES,
      labels: [],
      createdFrom: null,
      createdBefore: null,
      finishedFrom: null,
      finishedBefore: null,
      after: null,
      order: "oldest",
      limit: 100,
      ...filter,
    });
const labels = (count: number) =>
  [["tenant", "a"] as const, ["region", "b"] as const, ["plan", "c"] as const].slice(0, count);

/** What is asked, and the indexes that serve it. */
const STATEMENTS: [string, Use, string[]][] = [
  [
    "claim",
    (instances) => instances.claim({ scopes, limit: 50, takeOver: true, lock: "me", leaseMs: 1000 }),
    ["instance_due", "journal_pkey"],
  ],
  ["next wake", (instances) => instances.nextWake(scopes, { takeOver: true }), ["instance_due"]],
  [
    "load",
    (instances) => instances.load(leases.map((lease) => ({ ...lease, instance: NAMED }))),
    ["event_pkey", "instance_pkey", "journal_pkey"],
  ],
  [
    "load events",
    (instances) => instances.loadEvents(leases.map((lease) => ({ ...lease, instance: NAMED, after: 1 }))),
    ["event_pkey", "instance_pkey", "journal_pkey"],
  ],
  ["commit of what goes on", commit({ kind: "running" }, PLAIN, false), LOCK],
  ["commit of what is completed", commit({ kind: "completed", output: "{}" }, PLAIN, false), LOCK],
  [
    "commit of what is parked",
    commit({ kind: "parked", dueAt: 1, wakes: 0 }, { ...PLAIN, parent: "do:outer#1" }, false),
    LOCK,
  ],
  [
    "commit that is sent again",
    commit({ kind: "completed", output: "{}" }, PLAIN, true),
    [...LOCK, "journal_pkey", "line_pkey"],
  ],
  ["renew", (instances) => instances.renew(leases, 1000), LOCK],
  ["confirm", (instances) => instances.confirm(leases), LOCK],
  [
    "reacquire",
    (instances) => instances.reacquire({ ref: "a", run: 1, lock: "lock-0" }, { lock: "me", leaseMs: 1 }),
    LOCK,
  ],
  [
    "events",
    (instances) =>
      instances.sendEvents(
        names.map((name, index) => ({ ...name, eventId: `new-${index}`, type: "go", payload: "{}" })),
      ),
    ["event_pkey", "instance_id", "instance_pkey", "journal_pkey"],
  ],
  ["find", (instances) => instances.find(names), FIND],
  [
    "drop progress",
    (instances) => {
      const step = { type: "do", name: "charge", count: 1, parent: null, from: 2 } as const;
      return instances.dropProgress({ ref: leases[0]?.ref ?? "", run: 1, ...step });
    },
    ["journal_pkey"],
  ],
  ["positions", (instances) => instances.positions(leases.map(({ ref }) => ref)), ["instance_pkey", "journal_pkey"]],
  ["pause", (instances) => instances.pause(one), PAUSE],
  ["resume", (instances) => instances.resume(one), CHANGE],
  ["terminate", (instances) => instances.terminate(one), CHANGE],
  ["restart", (instances) => instances.restart(one), CHANGE],
  [
    "unknown names",
    (instances) => instances.unknownNames({ namespace: "app", names: ["checkout"] }),
    [...FIND, "instance_status"],
  ],
  ["list", list({}), LIST],
  ["list a later page", list({ after: refOf("running", 100), order: "newest" }), LIST],
  ["list what is created or finished in some time", list({ createdFrom: 1, finishedBefore: 2 }), LIST],
  ["list what is of some statuses", list({ statuses: ["running", "errored"] }), LIST],
  ["list the instances of all workflows", list({ name: null }), [...FIND, ...LIST]],
  ["list by a label", list({ labels: [["tenant", "a"]] }), LABELLED],
  ["list by labels", list({ labels: labels(2), statuses: ["waiting"], createdFrom: 0 }), LABELLED],
  ["list a later page by labels", list({ labels: labels(3), after: refOf("sleeping", 50_000) }), LABELLED],
  ["lease tokens", (instances) => instances.leaseTokens(["app"]), ["instance_due"]],
  ["find leased", (instances) => instances.findLeased(["app"], ["lock-1"]), ["instance_due"]],
  ["expire leases", (instances) => instances.expireLeases(["app"], ["lock-1"]), ["instance_due"]],
  [
    "history",
    (instances) =>
      instances.history({
        ref: leases[0]?.ref ?? "",
        instance: NAMED,
        run: null,
        after: null,
        order: "newest",
        limit: 100,
        maxBytes: 1e6,
      }),
    ["event_pkey", "journal_pkey"],
  ],
];

const TABLES = ["instance", "journal", "event", "label"].map((table) => `perdure.${table}`);

const SIZES = {
  few: { sleeping: 60, running: 3, due: 3 },
  some: { sleeping: 1000, running: 1000, due: 1000 },
  many: { sleeping: 100_000, running: BATCH, due: 1000 },
};

describeMisledPlans({
  about: "workflows",
  tables: TABLES,
  fill: (client, size) => fill(client, SIZES[size]),
  statements: STATEMENTS.map(([what, use, indexes]) => [what, () => recordInstanceStatements(use), indexes]),
  mostRows: BATCH * 6,
});

function refOf(kind: string, number: number): string {
  return `${kind}-${String(number).padStart(6, "0")}`;
}

/**
 * Instances that sleep until the year 2096, that run until then (but for one whose owner was lost), and that are due since 1970,
 * each with two entries and an event, and every tenth with labels.
 */
async function fill(client: Client, counts: { sleeping: number; running: number; due: number }): Promise<void> {
  await client.query(
    `insert into perdure.instance (ref, namespace, name, id, params, created_at, started_at, class, available_at, lock, wakes)
    select ref, 'app', 'checkout', 'id-' || ref, json_build_object('to', repeat('x', 50)), 0, 0,
      case kind when 'running' then 2 else 0 end,
      case when kind = 'due' or kind = 'running' and number = 1 then number else 4000000000000 + number end,
      case kind when 'running' then 'lock-' || (number - 1) % 10 end,
      1
    from (values ('sleeping', $1::int), ('running', $2::int), ('due', $3::int)) as kinds(kind, count),
      generate_series(1, count) as number, lateral (select kind || '-' || lpad(number::text, 6, '0') as ref) as made`,
    [counts.sleeping, counts.running, counts.due],
  );
  await client.query(`insert into perdure.journal (ref, run, position, kind, type, name, count, attempt, value, event, at)
    select ref, 1, position, 'received', 'waitForEvent', 'charge', 1, 1, '{}', 1, 0
    from perdure.instance, generate_series(1, 2) as position`);
  await client.query(`insert into perdure.event (ref, run, id, sequence, type, payload, at)
    select ref, 1, 'event-' || ref, 1, 'go', '{}', 0 from perdure.instance`);
  await client.query(`insert into perdure.label (namespace, name, key, value, ref)
    select namespace, name, key, value, ref from (select * from perdure.instance where ref like '%0') as instance,
      (values ('tenant', 'a'), ('region', 'b'), ('plan', 'c'), ('tenant', 'd')) as label(key, value)`);
}
