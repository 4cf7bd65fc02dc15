import {
  INSTANCE_STATUSES,
  type InstanceFilter,
  type InstanceInsert,
  type InstanceOutcome,
  type InstanceSearch,
  type NewEntry,
  NO_TRAITS,
} from "../../../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../../../src/store/instances/instance-statements.ts";
import { prepareInstance } from "../../../../src/store/postgres/sql/instances/instance-inserts.ts";
import {
  awaitEnds,
  lockAwaited,
  tellWaiters,
  writeWaiters,
} from "../../../../src/store/postgres/sql/instances/waiters.ts";
import { NAMED } from "../../../support/named.ts";
import { BATCH, fillInstances, refOf } from "./instance-rows.ts";
import { ALL_ROWS, type PlannedStatement, type PlannedTables } from "./misled-plans.ts";
import { type Answers, recordBacklogStatements, recordInstanceStatements, recordOne } from "./recorded-statements.ts";

const scopes = [{ namespace: "app", names: ["checkout", "refund"] }];
const leases = Array.from({ length: BATCH }, (_, index) => ({
  ref: refOf("running", index + 1),
  run: 1,
  lock: `lock-${index % 10}`,
}));
const names = leases.map(({ ref }) => ({ namespace: "app", name: "checkout", id: `id-${ref}` }));
const one = { namespace: "app", name: "checkout", id: `id-${refOf("running", 1)}` };

const inserts = leases.map(({ ref }): InstanceInsert => {
  const id = `new-${ref}`;
  return {
    namespace: "app",
    name: "checkout",
    id,
    ref: id,
    params: "{}",
    version: 0,
    parent: null,
    traits: null,
    lease: null,
  };
});

const withEvent = (insert: InstanceInsert): InstanceInsert => ({
  ...insert,
  event: { eventId: "own:1", type: "word", payload: "1" },
});
const created = () => inserts.map(({ ref }) => ({ ref, created_at: 1 }));

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
const commitEntries = (entries: NewEntry[], outcome: InstanceOutcome, resent: boolean) => {
  const commits = leases.map((lease) => ({ ...lease, instance: NAMED, position: 3, entries, outcome }));
  return (instances: InstanceStatements) => instances.commit(commits, { resent });
};
const commit = (outcome: InstanceOutcome, entry: NewEntry, resent: boolean) =>
  commitEntries([entry, entry], outcome, resent);

type Use = (instances: InstanceStatements) => Promise<unknown>;
const FIND = ["instance_id"];
const LOCK = ["instance_pkey"];
const PAUSE = ["instance_id", "instance_pkey"];
const CHANGE = [...PAUSE, "line_pkey"];

const COUNT = ["instance_due", "instance_waiting"];
const LIST = ["instance_due", "instance_finished", "instance_pkey", "instance_waiting"];
const REACH = ["instance_finished", "instance_waiting"];
const LABELLED = ["instance_pkey", "label_pkey"];

const EVERYTHING: InstanceFilter = {
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
};
const list =
  (filter: Partial<InstanceFilter>): Use =>
  (instances) =>
    instances.list({ ...EVERYTHING, ...filter });
const search =
  (filter: Partial<InstanceSearch>): Use =>
  (instances) =>
    instances.search({
      ...EVERYTHING,
      idPrefix: "id",
      version: 1,
      parentPrefix: "[",
      step: "charge",
      among: null,
      errors: true,
      ...filter,
    });
const labels = (count: number) =>
  [["tenant", "a"] as const, ["region", "b"] as const, ["plan", "c"] as const].slice(0, count);

/** The purpose of statements, the operation that sends them, and the indexes that they use. */
const STATEMENTS: [string, Use, string[], Answers?][] = [
  [
    "claim instances",
    (instances) => instances.claim({ scopes, limit: 50, takeOver: true, lock: "me", leaseMs: 1000 }),
    ["instance_due", "journal_pkey"],
  ],
  ["find the next wake of instances", (instances) => instances.nextWake(scopes, { takeOver: true }), ["instance_due"]],
  [
    "load runs",
    (instances) => instances.load(leases.map((lease) => ({ ...lease, instance: NAMED }))),
    ["event_pkey", "instance_pkey", "journal_pkey"],
  ],
  [
    "load events",
    (instances) => instances.loadEvents(leases.map((lease) => ({ ...lease, instance: NAMED, after: 1 }))),
    ["event_pkey", "instance_pkey", "journal_pkey"],
  ],
  ["commit a step of instances that go on", commitEntries([PLAIN], { kind: "running" }, false), LOCK],
  ["commit the last step of instances", commitEntries([PLAIN], { kind: "completed", output: "{}" }, false), LOCK],
  ["commit entries of instances that go on", commit({ kind: "running" }, PLAIN, false), LOCK],
  ["commit completed instances", commit({ kind: "completed", output: "{}" }, PLAIN, false), LOCK],
  [
    "commit parked instances",
    commit({ kind: "parked", dueAt: 1, wakes: 0 }, { ...PLAIN, parent: "do:outer#1" }, false),
    LOCK,
  ],
  [
    "commit again after a lost reply",
    commit({ kind: "completed", output: "{}" }, PLAIN, true),
    [...LOCK, "journal_pkey", "line_pkey"],
  ],
  ["renew leases of instances", (instances) => instances.renew(leases, 1000), LOCK],
  ["confirm claims", (instances) => instances.confirm(leases), LOCK],
  [
    "reacquire a parked instance",
    (instances) => instances.reacquire({ ref: "a", run: 1, lock: "lock-0" }, { lock: "me", leaseMs: 1 }),
    LOCK,
  ],
  [
    "send events",
    (instances) =>
      instances.sendEvents(
        names.map((name, index) => ({ ...name, eventId: `new-${index}`, type: "go", payload: "{}" })),
      ),
    ["event_pkey", "instance_id", "instance_pkey", "journal_pkey"],
  ],
  [
    "send events of tokens",
    (instances) =>
      instances.sendEvents(
        names.map((name, index) => {
          const { ref, run } = leases[index] as { ref: string; run: number };
          const token = { name: "approval", count: 1 };
          return { ...name, only: { ref, run }, token, eventId: `token-${index}`, type: "$token", payload: "{}" };
        }),
      ),
    ["event_pkey", "instance_id", "instance_pkey", "journal_pkey"],
  ],
  ["find instances", (instances) => instances.find(names), FIND],
  [
    "drop progress",
    (instances) => {
      const step = { type: "do", name: "charge", count: 1, parent: null, from: 2 } as const;
      return instances.dropProgress({ ref: leases[0]?.ref ?? "", run: 1, ...step });
    },
    ["journal_pkey"],
  ],
  [
    "read positions",
    (instances) => instances.positions(leases.map(({ ref }) => ref)),
    ["instance_pkey", "journal_pkey"],
  ],
  ["read where an instance stands", (instances) => instances.situation(leases[0]?.ref ?? ""), ["instance_pkey"]],
  [
    "read the events that no step has received",
    (instances) =>
      instances.unreceivedEvents({ ref: leases[0]?.ref ?? "", run: 1, instance: one }, { events: 100, bytes: 1000 }),
    ["event_pkey", "journal_pkey"],
  ],
  ["pause an instance", (instances) => instances.pause(one), PAUSE],
  ["resume an instance", (instances) => instances.resume(one), CHANGE],
  ["terminate an instance", (instances) => instances.terminate(one), CHANGE],
  ["restart an instance", (instances) => instances.restart(one), CHANGE],
  [
    "restart an instance from a step",
    (instances) =>
      instances.restart(one, {
        statuses: null,
        params: null,
        kept: { run: 1, positions: [1], places: [1], events: "received" },
      }),
    [...CHANGE, "event_pkey", "journal_pkey"],
  ],
  [
    "time out an instance",
    (instances) => instances.timeOut({ instance: one, ref: "ref", run: 1, error: "null" }),
    [...CHANGE, "journal_pkey"],
  ],
  ["roll back an instance", (instances) => instances.rollBack(one), [...CHANGE, "journal_pkey"]],
  [
    "pause an instance with a receipt",
    (instances) => instances.pause({ ...one, receipt: { key: "receipt", note: "{}", keepMs: 1000 } }),
    [...PAUSE, "request_pkey"],
    { write_receipts: () => [{ namespace: "app", key: "receipt" }] },
  ],
  ["create instances", (instances) => instances.insert(inserts), []],
  [
    "create instances with events",
    (instances) => instances.insert(inserts.map(withEvent)),
    [],
    { insert_instances_with_events: created },
  ],
  [
    "create limited instances with events",
    (instances) =>
      instances.insert(
        inserts.map((one) => ({ ...withEvent(one), traits: { ...NO_TRAITS, slotKey: "app/checkout" } })),
      ),
    [],
    { insert_limited_instances_with_events: created },
  ],
  ["read past runs", (instances) => instances.pastRuns({ ...one, ref: leases[0]?.ref ?? "" }), ["past_run_pkey"]],
  [
    "count unfinished instances by version",
    (instances) => instances.unfinishedVersions({ namespace: "app", names: ["checkout"] }, 500),
    COUNT,
  ],
  [
    "find unknown names",
    (instances) => instances.unknownNames({ namespace: "app", names: ["checkout"] }),
    ["instance_due", ...FIND, "instance_waiting"],
  ],
  ["list instances", list({}), LIST],
  ["list a later page of instances", list({ after: refOf("running", 100), order: "newest" }), LIST],
  ["list instances that were created or finished in some time", list({ createdFrom: 1, finishedBefore: 2 }), LIST],
  ["list instances of some statuses", list({ statuses: ["running", "errored"] }), LIST],
  [
    "list the instances of all workflows",
    list({ name: null }),
    ["instance_due", "instance_finished", ...FIND, "instance_pkey", "instance_waiting"],
  ],
  [
    "list a page of instances that ends early",
    list({ createdFrom: 1, after: refOf("running", 100), until: refOf("running", 200) }),
    LIST,
  ],
  [
    "list a page of labelled instances that ends early",
    list({
      labels: labels(1),
      createdFrom: 1,
      after: refOf("sleeping", 50_000),
      until: refOf("sleeping", 51_000),
    }),
    LABELLED,
  ],
  ["find how far a list comes", (instances) => instances.reach(EVERYTHING, 20), REACH],
  [
    "find how far a list of all workflows comes from a later page",
    (instances) => instances.reach({ ...EVERYTHING, name: null, after: refOf("running", 100), order: "newest" }, 20),
    [...FIND, ...REACH].sort(),
  ],
  [
    "find how far a list by labels comes",
    (instances) => instances.reach({ ...EVERYTHING, labels: labels(2) }, 20),
    ["label_pkey"],
  ],
  ["list instances by a label", list({ labels: [["tenant", "a"]] }), LABELLED],
  ["list instances by labels", list({ labels: labels(2), statuses: ["waiting"], createdFrom: 0 }), LABELLED],
  ["list a later page of instances by labels", list({ labels: labels(3), after: refOf("sleeping", 50_000) }), LABELLED],
  ["search instances", search({}), [...LIST, "journal_pkey"]],
  [
    "search the instances of all workflows",
    search({ name: null, after: refOf("running", 100) }),
    [...FIND, ...LIST, "journal_pkey"],
  ],
  ["search labelled instances", search({ labels: labels(2), step: null, createdFrom: 0 }), LABELLED],
  [
    "search some instances",
    search({
      among: leases.map(({ ref }) => ref),
      labels: labels(1),
      step: null,
      createdFrom: 0,
      after: refOf("due", 1),
    }),
    LABELLED,
  ],
  [
    "find instances by the beginning of their ids",
    (instances) => instances.findByIdPrefix({ namespace: "app", name: "checkout" }, "id-due-0001", 2000),
    FIND,
  ],
  [
    "find instances of all workflows by the beginning of their ids",
    (instances) => instances.findByIdPrefix({ namespace: "app", name: null }, "id-due-0001", 2000),
    FIND,
  ],
  [
    "find deadlines",
    (instances) => instances.deadlines({ namespace: "app", names: ["checkout"] }, 100),
    ["instance_deadline"],
  ],
  ["find the lease tokens of instances", (instances) => instances.leaseTokens(["app"]), ["instance_due"]],
  ["find leased instances", (instances) => instances.findLeased(["app"], ["lock-1"]), ["instance_due"]],
  ["expire leases of instances", (instances) => instances.expireLeases(["app"], ["lock-1"]), ["instance_due"]],
  [
    "read a history",
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

const refs = leases.map(({ ref }) => ref);
const repeated = (value: unknown) => refs.map(() => value);

/** Waits for the ends of instances. */
const WAITS: PlannedStatement[] = [
  [
    "wait for the ends of instances",
    recordOne(awaitEnds, [
      repeated("app"),
      repeated("checkout"),
      names.map(({ id }) => id),
      repeated('["waiter",1,"end"]'),
    ]),
    [...FIND, ...LOCK],
  ],
  ["lock instances and their waiters", recordOne(lockAwaited, [refs]), LOCK],
  ["write the waiters of instances", recordOne(writeWaiters, [refs, repeated("[]")]), LOCK],
  [
    "tell waiters of the ends of instances",
    recordOne(tellWaiters, [null, refs, repeated(1), refs.map((ref) => `end-${ref}`), repeated("end"), repeated("{}")]),
    LOCK,
  ],
  [
    "prepare an instance that was created in SQL",
    recordOne(prepareInstance, [null, refs[0], 1, "lock-0", "{}", null, null, null, null, 1, null]),
    LOCK,
  ],
];

const TABLES = ["instance", "journal", "event", "label", "request"].map((table) => `perdure.${table}`);

export const INSTANCES: PlannedTables = {
  tables: TABLES,
  fill: fillInstances,
  statements: [
    ["count the lanes of instances", () => recordBacklogStatements("count_instance_lanes"), ["instance_due"]],
    [
      "count instances by labels",
      () => recordInstanceStatements((instances) => instances.labelledCounts("app", labels(2), null)),
      [...FIND, ...LABELLED],
      ALL_ROWS,
    ],
    [
      "count the newest instances by labels",
      () =>
        recordInstanceStatements((instances) => instances.labelledCounts("app", labels(2), refOf("sleeping", 99_900))),
      [...FIND, ...LABELLED],
    ],
    ...STATEMENTS.map(
      ([purpose, use, indexes, answers]): PlannedStatement => [
        purpose,
        () => recordInstanceStatements(use, answers),
        indexes,
      ],
    ),
    ...WAITS,
  ],
  mostRows: BATCH * 6,
};
