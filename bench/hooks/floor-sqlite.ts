import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { HookContender } from "./contender.ts";
import { HOOK_NAME, type HookRow, makeHookRow, NAMESPACE } from "./hook-row.ts";
import type { Payload } from "./payload.ts";

const ROWS_PER_TRANSACTION = 500;
const LEASE_MILLISECONDS = 30_000;

const CREATE_TABLE = `
create table hook (
  namespace text not null,
  id text not null,
  name text not null,
  payload text not null,
  class integer not null,
  available_at integer,
  lock text,
  attempts integer not null default 0,
  created_at integer not null,
  primary key (namespace, id)
) without rowid;
create index hook_due on hook (namespace, class, available_at, id) where available_at is not null`;

const INSERT = `
insert into hook (namespace, id, name, payload, class, available_at, created_at)
values ('${NAMESPACE}', ?1, '${HOOK_NAME}', ?2, 0, ?3, ?3)`;

/** Index: hook_due, then the primary key. */
const CLAIM = `
update hook set lock = ?2, available_at = ?3, attempts = attempts + 1
where namespace = '${NAMESPACE}' and id in (
  select id from hook
  where namespace = '${NAMESPACE}' and class = 0 and available_at is not null and available_at <= ?1
  order by available_at, id limit ${ROWS_PER_TRANSACTION}
)
returning id, payload`;

/** Index: the primary key. */
const DELETE = `delete from hook where namespace = '${NAMESPACE}' and id = ?1 and lock = ?2`;

/** What SQLite itself can do: the rows of a hook engine without the engine. */
export const floorSqlite: HookContender = {
  name: "floor",
  role: "floor",
  engine: "sqlite",
  settings: `node:sqlite, WAL, synchronous=FULL, transactions of ${ROWS_PER_TRANSACTION} rows (one row in "enqueue one at a time")`,

  async open(path) {
    const setup = openDatabase(path);
    setup.exec(CREATE_TABLE);
    const wakeUps = new Set<() => void>();
    return {
      async openProducer() {
        const database = openDatabase(path);
        const insert = database.prepare(INSERT);
        const write = (row: HookRow) => insert.run(row.id, row.payload, row.availableAt);
        return {
          async enqueue(payload) {
            write(makeHookRow(payload));
            for (const wake of wakeUps) wake();
          },
          async enqueueMany(payloads) {
            for (let start = 0; start < payloads.length; start += ROWS_PER_TRANSACTION) {
              const batch = payloads.slice(start, start + ROWS_PER_TRANSACTION);
              transaction(database, () => {
                for (const payload of batch) write(makeHookRow(payload));
              });
              await setImmediate();
            }
          },
          [Symbol.asyncDispose]: async () => database.close(),
        };
      },
      async startWorker(onRun) {
        const { wake, stop } = startWorker(path, onRun);
        wakeUps.add(wake);
        return {
          async [Symbol.asyncDispose]() {
            wakeUps.delete(wake);
            await stop();
          },
        };
      },
      countUnsettled: async () => Number(setup.prepare("select count(*) as count from hook").get()?.["count"]),
      [Symbol.asyncDispose]: async () => setup.close(),
    };
  },
};

function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  return database;
}

function transaction(database: DatabaseSync, body: () => void): void {
  database.exec("begin immediate");
  body();
  database.exec("commit");
}

/** Runs due rows until none is left; then sleeps until it is woken. */
function startWorker(path: string, onRun: (payload: Payload) => void) {
  const database = openDatabase(path);
  const claim = database.prepare(CLAIM);
  const remove = database.prepare(DELETE);
  const lock = "worker";
  let stopped = false;
  let idle = true;
  let running = Promise.resolve();

  const run = async () => {
    for (;;) {
      await setImmediate();
      if (stopped) break;
      const now = Date.now();
      const rows = claim.all(now, lock, now + LEASE_MILLISECONDS) as unknown as { id: string; payload: string }[];
      if (rows.length === 0) break;
      for (const row of rows) onRun(JSON.parse(row.payload) as Payload);
      transaction(database, () => {
        for (const row of rows) remove.run(row.id, lock);
      });
    }
    idle = true;
  };
  const wake = () => {
    if (!idle) return;
    idle = false;
    running = run();
  };
  wake();
  return {
    wake,
    async stop() {
      stopped = true;
      await running;
      database.close();
    },
  };
}
