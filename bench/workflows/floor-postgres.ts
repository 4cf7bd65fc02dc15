import pg from "pg";
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

const ROWS_PER_STATEMENT = 500;
const LANES = 2;

/** Without statistics the planner may scan or hash the whole table for a batch; every statement here has its index. */
const PLANS = "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off";

const CREATE_TABLES = `
create table instance (
  ref text collate "C" not null primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  id text collate "C" not null,
  class smallint not null,
  available_at bigint,
  lock text collate "C",
  outcome text,
  created_at bigint not null,
  finished_at bigint,
  params json not null,
  output json
) with (fillfactor = 70);
create unique index instance_id on instance (namespace, name, id);
create index instance_due on instance (namespace, class, available_at) where available_at is not null;
create table journal (
  ref text collate "C" not null,
  position int not null,
  type text not null,
  name text not null,
  value json,
  at bigint not null,
  primary key (ref, position)
)`;

const INSERT = `
insert into instance (ref, namespace, name, id, class, available_at, lock, created_at, params)
select ref, '${NAMESPACE}', '${WORKFLOW_NAME}', ref, 2, $3, 'owner', $4, params
from unnest($1::text[], $2::json[]) as given (ref, params)`;
/**
 * The fence that every engine needs: nothing is written for an instance whose lease was lost. The key of the journal keeps a
 * second owner from writing the same position, so the row needn't be locked. Index: the primary key.
 */
const OWNED = `
owned as materialized (
  select given.ref from unnest($1::text[]) as given (ref) cross join lateral (
    select from instance where instance.ref = given.ref and instance.lock = 'owner' and instance.available_at is not null limit 1
  ) as found
)`;
const INSERT_STEPS = `
insert into journal (ref, position, type, name, value, at)
select ref, $2, 'do', $3, $4, $5 from owned`;
const ADD_STEPS = `with ${OWNED} ${INSERT_STEPS}`;
/** Both in one statement, so in one commit. Index: the primary key. */
const ADD_STEPS_AND_FINISH = `
with ${OWNED}, step as (${INSERT_STEPS})
update instance set class = 0, available_at = null, outcome = 'complete', output = $6, finished_at = $5
from owned where instance.ref = owned.ref and instance.lock = 'owner' and instance.available_at is not null`;

/** What PostgreSQL itself can do: the rows of a workflow engine without the engine. */
export const floorPostgres: WorkflowContender = {
  name: "floor",
  role: "floor",
  works: WORKS_OF_FLOORS,
  engine: "postgres",
  settings: `pg, prepared statements, each a commit; many at once on ${LANES} connections, ${ROWS_PER_STATEMENT} workflows a statement, ${PLANS}`,

  async open(url) {
    const pool = new pg.Pool({ connectionString: url, max: LANES, min: LANES, options: PLANS });
    pool.on("error", () => {}); // the failing query reports it
    await pool.query(CREATE_TABLES);
    return {
      runOne: (steps) => write(pool, [makeInstanceRow(steps, 0)], steps),
      async runMany(count) {
        const rows = makeInstanceRows(count);
        let next = 0;
        const lane = async () => {
          while (next < rows.length) {
            const start = next;
            next += ROWS_PER_STATEMENT;
            await write(pool, rows.slice(start, next), STEPS);
          }
        };
        await Promise.all(Array.from({ length: LANES }, lane));
      },
      [Symbol.asyncDispose]: () => pool.end(),
    };
  },
};

/** A statement that creates, then one for each step; the last also finishes. */
async function write(pool: pg.Pool, rows: readonly InstanceRow[], steps: number): Promise<void> {
  const refs = rows.map(({ ref }) => ref);
  const now = Date.now();
  const created = [refs, rows.map(({ params }) => params), now + LEASE_MILLISECONDS, now];
  await pool.query({ name: "insert", text: INSERT, values: created });
  for (let step = 1; step <= steps; step++) {
    const values = [refs, step, `step ${step}`, stepValue(step), Date.now()];
    if (step < steps) await pool.query({ name: "step", text: ADD_STEPS, values });
    else await pool.query({ name: "finish", text: ADD_STEPS_AND_FINISH, values: [...values, OUTPUT] });
  }
}
