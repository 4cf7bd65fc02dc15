import { type Client, escapeLiteral } from "pg";
import type { JobStatements } from "../../../../src/store/jobs/job-statements.ts";
import { PostgresBacklogStatements } from "../../../../src/store/postgres/backlog-statements.ts";
import type { Connection } from "../../../../src/store/postgres/connection/connection.ts";
import type { PostgresClient } from "../../../../src/store/postgres/connection/driver.ts";
import { PostgresHookStatements } from "../../../../src/store/postgres/hook-statements.ts";
import { PostgresInstanceStatements } from "../../../../src/store/postgres/instances/instance-statements.ts";
import { PostgresJobStatements } from "../../../../src/store/postgres/job-statements.ts";
import { PostgresRequestStatements } from "../../../../src/store/postgres/request-statements.ts";
import { PostgresScheduleStatements } from "../../../../src/store/postgres/schedule-statements.ts";
import type { Statement } from "../../../../src/store/postgres/sql/statement.ts";
import { PostgresStreamStatements } from "../../../../src/store/postgres/stream-statements.ts";
import { PostgresSubjectStatements } from "../../../../src/store/postgres/subject-statements.ts";
import { PostgresWorkerStatements } from "../../../../src/store/postgres/worker-statements.ts";
import type { RequestStatements } from "../../../../src/store/request-statements.ts";
import type { ScheduleStatements } from "../../../../src/store/schedules/schedule-statements.ts";
import type { StreamStatements } from "../../../../src/store/streams/stream-statements.ts";
import type { SubjectStatements } from "../../../../src/store/subjects/subject-statements.ts";
import type { WorkerStatements } from "../../../../src/store/workers/worker-statements.ts";
import { ControlledClock } from "../../../support/controlled-clock.ts";

export interface RecordedStatement {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  /**
   * Whether it was sent in one message, because it calls a function that locks. The function's own statements are explained.
   */
  readonly whole?: true;
}

/** Whether to use the plan that is kept, or to make one for these values. */
export type PlanMode = "force_generic_plan" | "force_custom_plan";

/** One step of a plan that was run. */
export interface PlanNode {
  readonly type: string;
  readonly table: string | undefined;
  readonly index: string | undefined;
  /** The number of rows that it read, including those that a filter dropped. */
  readonly rowsRead: number;
  /** The number of pages that it read, with those of its own steps. Only PostgreSQL 18 and later tell without being asked. */
  readonly pagesRead: number;
}

/** A statement as it is sent in the middle of a transaction that the recorder can't play. */
export function recordOne(
  statement: (schema: string) => Statement,
  values: readonly unknown[],
): () => Promise<RecordedStatement[]> {
  return async () => [{ statement: statement(SCHEMA), values }];
}

/** The statements that the engine would send, without a database to answer. */
export function recordHookStatements(
  use: (hooks: PostgresHookStatements) => Promise<unknown>,
  answers: Answers = {},
): Promise<RecordedStatement[]> {
  return record(
    (connection) => use(new PostgresHookStatements(connection, new ControlledClock(), SCHEMA, NO_CONNECTION)),
    answers,
  );
}

/** The rows that answer a statement, by its name. Other statements are answered with none. */
export type Answers = Readonly<Record<string, (values: readonly unknown[]) => Record<string, unknown>[]>>;

export function recordInstanceStatements(
  use: (instances: PostgresInstanceStatements) => Promise<unknown>,
  answers: Answers = {},
): Promise<RecordedStatement[]> {
  return record(
    (connection) => use(new PostgresInstanceStatements(connection, new ControlledClock(), SCHEMA, NO_CONNECTION)),
    answers,
  );
}

/** Of the backlog: the statements with these names. */
export async function recordBacklogStatements(...names: readonly string[]): Promise<RecordedStatement[]> {
  const recorded = await record((connection) =>
    new PostgresBacklogStatements(connection, new ControlledClock(), SCHEMA).read("app", {
      lane: 100,
      deadLetters: 100,
    }),
  );
  return recorded.filter(({ statement }) => names.includes(statement.name));
}

export function recordRequestStatements(
  use: (requests: RequestStatements) => Promise<unknown>,
  answers: Answers = {},
): Promise<RecordedStatement[]> {
  return record((connection) => use(new PostgresRequestStatements(connection, new ControlledClock(), SCHEMA)), answers);
}

export function recordJobStatements(
  use: (jobs: JobStatements) => Promise<unknown>,
  answers: Answers = {},
): Promise<RecordedStatement[]> {
  return record(
    (connection) =>
      use(new PostgresJobStatements(connection, new ControlledClock(), SCHEMA, { insertWithin: async () => [] })),
    answers,
  );
}

export function recordStreamStatements(
  use: (streams: StreamStatements) => Promise<unknown>,
): Promise<RecordedStatement[]> {
  return record((connection) => use(new PostgresStreamStatements(connection, new ControlledClock(), SCHEMA)));
}

export function recordScheduleStatements(
  use: (schedules: ScheduleStatements) => Promise<unknown>,
): Promise<RecordedStatement[]> {
  return record((connection) => use(new PostgresScheduleStatements(connection, new ControlledClock(), SCHEMA)), {
    fire_schedule: () => [{}],
  });
}

export function recordSubjectStatements(
  use: (subjects: SubjectStatements) => Promise<unknown>,
): Promise<RecordedStatement[]> {
  return record((connection) =>
    use(new PostgresSubjectStatements(connection, new ControlledClock(), SCHEMA, NO_CONNECTION)),
  );
}

export function recordWorkerStatements(
  use: (workers: WorkerStatements) => Promise<unknown>,
): Promise<RecordedStatement[]> {
  return record((connection) => use(new PostgresWorkerStatements(connection, new ControlledClock(), SCHEMA)));
}

const SCHEMA = '"perdure".';
const NO_CONNECTION = { client: undefined, distrust: () => {} };

async function record(
  use: (connection: Connection) => Promise<unknown>,
  answers: Answers = {},
): Promise<RecordedStatement[]> {
  const recorded: RecordedStatement[] = [];
  const recorder = {
    transaction: (body: (client: PostgresClient) => Promise<unknown>) => body({} as PostgresClient),
    run: async (statement: Statement, values: unknown[]) => {
      recorded.push({ statement, values });
      const rows = answers[statement.name]?.(values) ?? [];
      return { rows, rowCount: rows.length };
    },
    runWhole: async (statement: Statement, values: unknown[]) => {
      recorded.push({ statement, values, whole: true });
      return { rows: [], rowCount: 0 };
    },
  };
  await use(recorder as unknown as Connection);
  return recorded;
}

/** Prepares a statement under its name, as the server keeps it for a connection. */
export async function prepare(client: Client, { name, text }: Statement): Promise<void> {
  await client.query(`prepare ${name} as ${text}`);
}

/** Runs a prepared statement, rolls it back, and gives the steps of its plan. `prepareRows` are rolled back with it. */
export async function explain(
  client: Client,
  { statement, values, whole }: RecordedStatement,
  planMode: PlanMode,
  prepareRows: () => Promise<void> = async () => {},
): Promise<PlanNode[]> {
  await client.query("begin");
  try {
    await prepareRows();
    await client.query(`set local plan_cache_mode = ${planMode}`);
    const execute = `execute ${statement.name}(${values.map(toLiteral).join(", ")})`;
    if (whole) return await explainNested(client, execute);
    const { rows } = await client.query(`explain (analyze, format json) ${execute}`);
    return flatten(rows[0]["QUERY PLAN"][0].Plan);
  } finally {
    await client.query("rollback");
  }
}

/** The steps of each statement that a function runs, from the module auto_explain. */
async function explainNested(client: Client, execute: string): Promise<PlanNode[]> {
  const nodes: PlanNode[] = [];
  const onNotice = ({ message = "" }: { readonly message?: string | undefined }) => {
    const start = message.indexOf("{");
    if (start >= 0) nodes.push(...flatten(JSON.parse(message.slice(start)).Plan));
  };
  await client.query(
    `load 'auto_explain'; ${AUTO_EXPLAIN.map((setting) => `set local auto_explain.${setting}`).join("; ")}`,
  );
  client.on("notice", onNotice);
  try {
    await client.query(execute);
  } finally {
    client.removeListener("notice", onNotice);
  }
  return nodes;
}

const AUTO_EXPLAIN = [
  "log_min_duration = 0",
  "log_analyze = on",
  "log_nested_statements = on",
  "log_format = json",
  "log_level = notice",
];

type JsonPlan = Record<string, unknown> & { readonly Plans?: readonly JsonPlan[] };

function flatten(plan: JsonPlan): PlanNode[] {
  const rowsPerLoop = Number(plan["Actual Rows"]) + Number(plan["Rows Removed by Filter"] ?? 0);
  const node = {
    type: plan["Node Type"] as string,
    table: plan["Relation Name"] as string | undefined,
    index: plan["Index Name"] as string | undefined,
    rowsRead: Math.round(rowsPerLoop * Number(plan["Actual Loops"])),
    pagesRead: Number(plan["Shared Hit Blocks"] ?? 0) + Number(plan["Shared Read Blocks"] ?? 0),
  };
  return [node, ...(plan.Plans ?? []).flatMap(flatten)];
}

function toLiteral(value: unknown): string {
  if (value === null) return "null";
  return escapeLiteral(Array.isArray(value) ? `{${value.map(toElement).join(",")}}` : String(value));
}

function toElement(value: unknown): string {
  return value === null ? "null" : JSON.stringify(String(value));
}
