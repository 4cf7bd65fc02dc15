import type { Client } from "pg";
import type { HookFilter, HookInsert, HookOutcome, HookSearch } from "../../../../src/store/hooks/hook-records.ts";
import type { PostgresHookStatements } from "../../../../src/store/postgres/hook-statements.ts";
import { COMPLETED, KEPT, PLAIN_TRIGGER } from "../../../support/use-store.ts";
import { ALL_ROWS, type PlannedStatement, type PlannedTables } from "./misled-plans.ts";
import {
  type Answers,
  recordBacklogStatements,
  recordHookStatements,
  recordRequestStatements,
  recordWorkerStatements,
} from "./recorded-statements.ts";

const BATCH = 500;

const leases = Array.from({ length: BATCH }, (_, index) => {
  const id = `running-${String(index + 1).padStart(6, "0")}`;
  return { namespace: "app", id, lock: `lock-${index % 10}` };
});
const ids = leases.map(({ id }) => id);
const triggers = (overrides: (index: number) => Partial<HookInsert>) =>
  Array.from({ length: BATCH }, (_, index) => ({
    ...PLAIN_TRIGGER,
    namespace: "app",
    id: `new-${index}`,
    ...overrides(index),
  }));
const scopes = [{ namespace: "app", names: ["greet", "wave"] }];

const unclaimed = { namespaces: ["app"], depth: 100, found: () => {} };

type Use = (hooks: PostgresHookStatements) => Promise<unknown>;

const hooks = (use: Use, answers?: Answers) => () => recordHookStatements(use, answers);
const settle = (outcome: HookOutcome, keyed: boolean, answers?: Answers) =>
  hooks((statements) => statements.settle(leases.map((lease) => ({ ...lease, keyed, outcome }))), answers);
const settleClaim = (outcome: HookOutcome) =>
  hooks((statements) =>
    statements.settle(leases.map(({ namespace, id }) => ({ namespace, id, lock: "lock-1", keyed: false, outcome }))),
  );
const list = (filter: Partial<HookFilter>) =>
  hooks((statements) =>
    statements.list({
      namespace: "app",
      status: null,
      after: null,
      order: "oldest",
      limit: 100,
      ...filter,
    }),
  );
const search = (filter: Partial<HookSearch>) =>
  hooks((statements) =>
    statements.search({
      namespace: "app",
      status: null,
      name: "greet",
      idPrefix: null,
      createdFrom: 0,
      createdBefore: null,
      errors: false,
      after: null,
      order: "oldest",
      limit: 100,
      ...filter,
    }),
  );

const DUE = ["hook_due"];
const BY_ID = ["hook_pkey"];
const BY_KEY = ["hook_key"];

/** What settles a hook that a trigger wanted to run again, until the trigger was cancelled. */
const SETTLED: Answers = {
  find_settled_hooks: () => leases.map(({ namespace, id, lock }) => ({ namespace, id, lock, result: "completed" })),
  settle_hooks: () => leases.map(({ namespace, id }) => ({ namespace, id, result: "completed" })),
};

const LINES = {
  namespace: "app",
  hooks: [{ name: "greet", limits: { slots: 5, starts: { limit: 20, periodMs: 60_000 } } }],
};

const request = { namespace: "app", key: "request-1" };
const REQUEST = ["request_pkey"];

const WORKER = {
  id: "worker-1",
  host: "machine",
  pid: 1,
  version: "1",
  concurrency: { hooks: 1, workflows: 1 },
  work: {},
};

const STATEMENTS: PlannedStatement[] = [
  [
    "claim hooks",
    hooks((statements) => statements.claim({ scopes, limit: 50, takeOver: true, lock: "me", leaseMs: 1000 })),
    DUE,
  ],
  ["count the lanes of hooks", () => recordBacklogStatements("count_hook_lanes"), DUE],
  ["count dead letters", () => recordBacklogStatements("count_dead_letters"), ["hook_failed"]],
  [
    "admit hooks with limits",
    hooks((statements) => statements.admit({ ...LINES, room: 100, lock: "me", leaseMs: 1000, after: "" })),
    ["hook_line", "hook_pkey", "start_pkey"],
  ],
  ["forget starts of hooks", hooks((statements) => statements.forgetStarts(60_000)), ["start_pkey"]],
  ["find the next wake of hooks", hooks((statements) => statements.nextWake(scopes, { takeOver: true })), DUE],
  [
    "find the next wake of hooks, and the names of due rows",
    hooks((statements) => statements.nextWake(scopes, { takeOver: true, unclaimed })),
    ["hook_due", "instance_due"],
  ],
  [
    "find the next wake of hooks, and the names of due rows, with a heartbeat",
    hooks((statements) => statements.nextWake(scopes, { takeOver: true, worker: WORKER, unclaimed })),
    ["hook_due", "instance_due"],
  ],
  [
    "find the next wake of hooks with a heartbeat",
    hooks((statements) => statements.nextWake(scopes, { takeOver: true, worker: WORKER })),
    DUE,
  ],
  ["write a heartbeat", () => recordWorkerStatements((workers) => workers.beat(WORKER)), []],
  ["remove a worker", () => recordWorkerStatements((workers) => workers.remove(WORKER.id)), ["worker_pkey"]],
  ["renew leases of hooks", hooks((statements) => statements.renew(leases, 1000)), BY_ID],
  ["delete completed hooks", settle(COMPLETED, false), BY_ID],
  ["delete completed hooks of one claim", settleClaim(COMPLETED), BY_ID],
  ["delete completed hooks with keys", settle(COMPLETED, true), BY_ID],
  ["delete completed hooks whose next triggers were cancelled", settle(COMPLETED, true, SETTLED), BY_ID],
  ["settle hooks that are kept", settle(KEPT, true), BY_ID],
  ["insert new hooks", hooks((statements) => statements.insert(triggers(() => ({})))), [...BY_ID, ...BY_KEY]],
  [
    "insert hooks that may exist",
    hooks((statements) => statements.insert(triggers(() => ({ ownId: true })))),
    [...BY_ID, ...BY_KEY],
  ],
  [
    "insert hooks with keys",
    hooks((statements) => statements.insert(triggers((index) => ({ key: `key-${index}` })))),
    [...BY_ID, ...BY_KEY],
  ],
  ["find the lease tokens of hooks", hooks((statements) => statements.leaseTokens(["app"])), DUE],
  [
    "count attempts of hooks",
    hooks((statements) =>
      statements.count(leases.map((lease) => ({ ...lease, attempts: 1, recoveries: 0, begins: true }))),
    ),
    BY_ID,
  ],
  ["find leased hooks", hooks((statements) => statements.findLeased(["app"], ["lock-1"])), DUE],
  ["expire leases of hooks", hooks((statements) => statements.expireLeases(["app"], ["lock-1"])), DUE],
  [
    "take a relay and its group",
    hooks((statements) =>
      statements.takeRelays(undefined as never, { namespace: "app", id: "relay-000001", lock: "lock-1" }),
    ),
    [...BY_ID, "hook_relay"],
  ],
  ["get a hook", hooks((statements) => statements.get({ namespace: "app", id: "due-000001" })), BY_ID],
  [
    "read the place of a hook in line",
    hooks((statements) =>
      statements.placeInLine({
        namespace: "app",
        id: "lined-000001",
        lineKey: "$hook/app/greet/1",
        class: 6,
        availableAt: 1,
        now: 5,
        rate: { key: "$hook/app/greet", limit: 3 },
      }),
    ),
    ["hook_line", "start_pkey"],
  ],
  ["list hooks", list({}), BY_ID],
  ["list a later page of hooks backwards", list({ after: "due-000500", order: "newest" }), BY_ID],
  ["list dead letters", list({ status: "failed" }), ["hook_failed"]],
  ["search hooks", search({ status: "pending" }), BY_ID],
  ["search a later page of hooks", search({ status: "pending", after: "due-000500" }), BY_ID],
  ["search hooks by the beginning of their ids", search({ idPrefix: "due-0001", order: "newest" }), BY_ID],
  ["search dead letters", search({ status: "failed", errors: true, after: "a" }), [...BY_ID, "hook_failed"]],
  [
    "find hooks",
    hooks((statements) =>
      statements.find(
        "app",
        leases.map(({ id }) => id),
      ),
    ),
    BY_ID,
  ],
  ["count hooks by status", hooks((statements) => statements.statistics("quiet")), BY_ID, ALL_ROWS],
  ["cancel a hook by its id", hooks((statements) => statements.cancel("app", { id: "sleeping-000001" })), BY_ID],
  [
    "cancel hooks by their key",
    hooks((statements) => statements.cancel("app", { key: "sleeping2", name: "greet" })),
    [...BY_ID, ...BY_KEY],
  ],
  ["redrive hooks", hooks((statements) => statements.redrive("app", ids)), [...BY_KEY, "hook_failed"]],
  ["discard hooks", hooks((statements) => statements.discard("app", ids)), BY_ID],
  ["purge hooks", hooks((statements) => statements.purge("app", 100)), ["hook_completed"]],
  [
    "begin a request",
    () =>
      recordRequestStatements((requests) => requests.begin({ ...request, fingerprint: "", target: "", keepMs: 1000 }), {
        find_request: () => [{}],
      }),
    REQUEST,
  ],
  [
    "finish a request",
    () => recordRequestStatements((requests) => requests.finish(request, "{}")),
    [...REQUEST, "request_expiry"],
  ],
  ["forget a request", () => recordRequestStatements((requests) => requests.forget(request)), REQUEST],
];

const SIZES = {
  few: { sleeping: 60, running: 3, due: 3 },
  some: { sleeping: 1000, running: 1000, due: 1000 },
  many: { sleeping: 100_000, running: BATCH, due: 1000 },
};

export const HOOKS: PlannedTables = {
  tables: ["perdure.hook", "perdure.request"],
  fill: (client, size) => fill(client, SIZES[size]),
  statements: STATEMENTS,
  mostRows: BATCH * 3,
};

/** Rows that sleep until the year 2096, rows that run until then, and rows that are due since 1970. */
async function fill(client: Client, counts: { sleeping: number; running: number; due: number }): Promise<void> {
  await client.query(
    `insert into perdure.hook
      (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at, lock, key)
    select 'app', kind || '-' || lpad(number::text, 6, '0'), 'greet', json_build_object('to', repeat('x', 50)), 0, 0, 0,
      case kind when 'running' then 2 else 1 end,
      case kind when 'due' then number else 4000000000000 + number end,
      case kind when 'running' then 'lock-' || (number - 1) % 10 end,
      case when kind <> 'due' and number % 2 = 0 then kind || number end
    from (values ('sleeping', $1::int), ('running', $2::int), ('due', $3::int)) as kinds(kind, count),
      generate_series(1, count) as number`,
    [counts.sleeping, counts.running, counts.due],
  );
  await client.query(
    `insert into perdure.hook
      (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at, line_key, rate_key)
    select 'app', 'lined-' || lpad(number::text, 6, '0'), 'greet', '1', 0, 0, 0, 6, number, '$hook/app/greet/' || number % 5, '$hook/app/greet'
    from generate_series(1, $1::int) as number`,
    [counts.sleeping],
  );
  await client.query(
    `insert into perdure.request (namespace, key, fingerprint, target, expires_at)
    select 'app', 'request-' || number, '', '{}', case when number <= $2::int then number else 4000000000000 + number end
    from generate_series(1, $1::int) as number`,
    [counts.sleeping, counts.running],
  );
}
