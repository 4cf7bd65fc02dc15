import { setImmediate } from "node:timers/promises";
import pg from "pg";
import type { HookContender } from "./contender.ts";
import { HOOK_NAME, type HookRow, makeHookRow, NAMESPACE } from "./hook-row.ts";
import type { Payload } from "./payload.ts";

const CHANNEL = "hook_due";
const ROWS_PER_STATEMENT = 500;
const LANES = 2;
const LEASE_MILLISECONDS = 30_000;

/** Without statistics the planner may scan or hash the whole table for a batch; every statement here has its index. */
const PLANS = "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off";

const CREATE_TABLE = `
create table hook (
  namespace text collate "C" not null,
  id text collate "C" not null,
  name text not null,
  payload json not null,
  class smallint not null,
  available_at bigint,
  lock text,
  attempts int not null default 0,
  created_at bigint not null,
  primary key (namespace, id)
);
create index hook_due on hook (namespace, class, available_at, id) where available_at is not null`;

const INSERT_ONE = `
insert into hook (namespace, id, name, payload, class, available_at, created_at)
values ('${NAMESPACE}', $1, '${HOOK_NAME}', $2, 0, $3, $3)`;

/** One round trip and one commit for both. */
const INSERT_ONE_AND_WAKE = `with inserted as (${INSERT_ONE}) select pg_notify('${CHANNEL}', '')`;

const INSERT_MANY = `
insert into hook (namespace, id, name, payload, class, available_at, created_at)
select '${NAMESPACE}', id, '${HOOK_NAME}', payload, 0, available_at, available_at
from unnest($1::text[], $2::json[], $3::bigint[]) as given (id, payload, available_at)`;

/** Index: hook_due, then the rows' places, which can't change while they are locked. */
const CLAIM = `
with due as materialized (
  select ctid from hook
  where namespace = '${NAMESPACE}' and class = 0 and available_at <= $1
  order by available_at, id limit ${ROWS_PER_STATEMENT}
  for update skip locked
)
update hook set lock = $2, available_at = $3, attempts = attempts + 1
from due where hook.ctid = due.ctid
returning hook.id, hook.payload`;

/** Index: the primary key. */
const DELETE = `delete from hook where namespace = '${NAMESPACE}' and id = any($1::text[]) and lock = $2`;

interface ClaimedRow {
  readonly id: string;
  readonly payload: Payload;
}

/** What the database itself can do: the rows of a hook engine without the engine. */
export const floorPostgres: HookContender = {
  name: "floor",
  role: "floor",
  engine: "postgres",
  settings: `pg, ${LANES} connections, prepared statements of ${ROWS_PER_STATEMENT} rows (one row in "enqueue one at a time"), ${PLANS}`,

  async open(url) {
    const setup = await openPool(url, 1);
    await setup.query(CREATE_TABLE);
    let workers = 0;
    return {
      async openProducer() {
        const pool = await openPool(url, LANES);
        return {
          enqueue: (payload) => insertOne(pool, makeHookRow(payload), workers > 0),
          enqueueMany: (payloads) => insertMany(pool, payloads.map(makeHookRow)),
          [Symbol.asyncDispose]: () => pool.end(),
        };
      },
      async startWorker(onRun) {
        const worker = await startWorker(url, onRun);
        workers++;
        return worker;
      },
      countUnsettled: async () => Number((await setup.query("select count(*) as count from hook")).rows[0].count),
      [Symbol.asyncDispose]: () => setup.end(),
    };
  },
};

async function openPool(url: string, max: number): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url, max, min: max, options: PLANS });
  pool.on("error", () => {}); // the failing query reports it
  await Promise.all(Array.from({ length: max }, () => pool.query("select 1")));
  return pool;
}

async function insertOne(pool: pg.Pool, row: HookRow, wake: boolean): Promise<void> {
  const [name, text] = wake ? ["insert_and_wake", INSERT_ONE_AND_WAKE] : ["insert", INSERT_ONE];
  await pool.query({ name, text, values: [row.id, row.payload, row.availableAt] });
}

async function insertMany(pool: pg.Pool, rows: readonly HookRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const batch = rows.slice(start, start + ROWS_PER_STATEMENT);
    const values = [batch.map((row) => row.id), batch.map((row) => row.payload), batch.map((row) => row.availableAt)];
    await pool.query({ name: "insert_many", text: INSERT_MANY, values });
  }
}

/** Runs due rows, lane by lane, until none is left; then sleeps until it is notified. */
async function startWorker(url: string, onRun: (payload: Payload) => void): Promise<AsyncDisposable> {
  const pool = await openPool(url, LANES);
  const listener = new pg.Client({ connectionString: url });
  listener.on("error", () => {}); // the failing query reports it
  await listener.connect();
  await listener.query(`listen ${CHANNEL}`);

  let stopped = false;
  let idle = true;
  let wakeUps = 0;
  let running = Promise.resolve();
  const wake = () => {
    wakeUps++;
    if (!idle) return;
    idle = false;
    running = run();
  };
  const run = async () => {
    while (!stopped && wakeUps > 0) {
      wakeUps = 0;
      await Promise.all(Array.from({ length: LANES }, (_, lane) => drain(pool, `lane ${lane}`, onRun, () => stopped)));
    }
    idle = true;
  };
  listener.on("notification", wake);
  wake();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      await running;
      await listener.end();
      await pool.end();
    },
  };
}

async function drain(
  pool: pg.Pool,
  lock: string,
  onRun: (payload: Payload) => void,
  isStopped: () => boolean,
): Promise<void> {
  while (!isStopped()) {
    const now = Date.now();
    const claim = { name: "claim", text: CLAIM, values: [now, lock, now + LEASE_MILLISECONDS] };
    const { rows } = await pool.query<ClaimedRow>(claim);
    if (rows.length === 0) return;
    for (const row of rows) onRun(row.payload);
    await pool.query({ name: "delete", text: DELETE, values: [rows.map((row) => row.id), lock] });
    await setImmediate();
  }
}
