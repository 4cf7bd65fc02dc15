import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { WorkflowContender } from "./contender.ts";
import {
  type InstanceRow,
  LEASE_MILLISECONDS,
  makeInstanceRow,
  makeInstanceRows,
  NAMESPACE,
  OUTPUT,
  stepValue,
} from "./instance-row.ts";
import { STEPS, WORKFLOW_NAME } from "./order.ts";
import { WORKS_OF_FLOORS } from "./work-names.ts";

const ROWS_PER_TRANSACTION = 500;

const CREATE_TABLES = `
create table instance (
  ref text not null primary key,
  namespace text not null,
  name text not null,
  id text not null,
  class integer not null,
  available_at integer,
  lock text,
  outcome text,
  created_at integer not null,
  finished_at integer,
  params text not null,
  output text
) strict, without rowid;
create unique index instance_id on instance (namespace, name, id);
create index instance_due on instance (namespace, class, available_at) where available_at is not null;
create table journal (
  ref text not null,
  position integer not null,
  type text not null,
  name text not null,
  value text,
  at integer not null,
  primary key (ref, position)
) strict, without rowid`;

const INSERT = `
insert into instance (ref, namespace, name, id, class, available_at, lock, created_at, params)
values (?1, '${NAMESPACE}', '${WORKFLOW_NAME}', ?1, 2, ?2, 'owner', ?3, ?4)`;
/** Writes nothing if the lease doesn't hold any more, as every engine must. Index: the primary key. */
const ADD_STEP = `
insert into journal (ref, position, type, name, value, at)
select ref, ?2, 'do', ?3, ?4, ?5 from instance where ref = ?1 and lock = 'owner' and available_at is not null`;
/** Index: the primary key. */
const FINISH = `
update instance set class = 0, available_at = null, outcome = 'complete', output = ?2, finished_at = ?3
where ref = ?1 and lock = 'owner'`;

/** What SQLite itself can do: the rows of a workflow engine without the engine. */
export const floorSqlite: WorkflowContender = {
  name: "floor",
  role: "floor",
  works: WORKS_OF_FLOORS,
  engine: "sqlite",
  settings: `node:sqlite, WAL, synchronous=FULL; many at once in transactions of ${ROWS_PER_TRANSACTION} workflows`,

  async open(path) {
    const database = new DatabaseSync(path, { timeout: 5000 });
    database.exec("pragma journal_mode = wal; pragma synchronous = full");
    database.exec(CREATE_TABLES);
    const write = createWriter(database);
    return {
      async runOne(steps) {
        write([makeInstanceRow(steps, 0)], steps);
      },
      async runMany(count) {
        const rows = makeInstanceRows(count);
        for (let start = 0; start < rows.length; start += ROWS_PER_TRANSACTION) {
          write(rows.slice(start, start + ROWS_PER_TRANSACTION), STEPS);
          await setImmediate();
        }
      },
      [Symbol.asyncDispose]: async () => database.close(),
    };
  },
};

/** A transaction that creates, then one for each step; the last also finishes. */
function createWriter(database: DatabaseSync): (rows: readonly InstanceRow[], steps: number) => void {
  const insert = database.prepare(INSERT);
  const addStep = database.prepare(ADD_STEP);
  const finish = database.prepare(FINISH);
  const transaction = (body: (now: number) => void) => {
    database.exec("begin immediate");
    body(Date.now());
    database.exec("commit");
  };
  return (rows, steps) => {
    transaction((now) => {
      for (const { ref, params } of rows) insert.run(ref, now + LEASE_MILLISECONDS, now, params);
    });
    for (let step = 1; step <= steps; step++) {
      transaction((now) => {
        for (const { ref } of rows) addStep.run(ref, step, `step ${step}`, stepValue(step), now);
        if (step === steps) for (const { ref } of rows) finish.run(ref, OUTPUT, now);
      });
    }
  };
}
