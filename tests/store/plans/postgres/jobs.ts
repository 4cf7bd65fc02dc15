import type { Client } from "pg";
import type { JobStatements } from "../../../../src/store/jobs/job-statements.ts";
import type { PlannedStatement, PlannedTables } from "./misled-plans.ts";
import { recordJobStatements, recordRequestStatements } from "./recorded-statements.ts";

const JOB = { namespace: "app", id: "job-000100" };
const LEASE = { ...JOB, lock: "lock-1" };
const BY_ID = ["job_pkey"];
const HELD = { kind: "held", leaseMs: 1000 } as const;

const jobs = (use: (statements: JobStatements) => Promise<unknown>) => () =>
  recordJobStatements(use, { hold_job: () => [{}], write_job: () => [{}] });
const change = (action: "redrive" | "discard" | "cancel") =>
  jobs((statements) =>
    statements.changeHooks(LEASE, action, ["hook-1"], () => ({ ...LEASE, progress: "{}", outcome: HELD })),
  );

const STATEMENTS: PlannedStatement[] = [
  ["insert a job", jobs((statements) => statements.insert({ ...JOB, actor: null, request: "{}", progress: "{}" })), []],
  ["claim a job", jobs((statements) => statements.claim({ ...LEASE, leaseMs: 1000 })), BY_ID],
  ["write a job", jobs((statements) => statements.write({ ...LEASE, progress: "{}", outcome: HELD })), BY_ID],
  ["redrive hooks for a job", change("redrive"), [...BY_ID, "hook_failed", "hook_key"]],
  ["discard hooks for a job", change("discard"), [...BY_ID, "hook_pkey"]],
  ["cancel hooks for a job", change("cancel"), [...BY_ID, "hook_pkey"]],
  ["cancel a job", jobs((statements) => statements.cancel(JOB)), BY_ID],
  ["get a job", jobs((statements) => statements.get(JOB)), BY_ID],
  ["list jobs", jobs((statements) => statements.list({ namespace: "app", before: null, limit: 10 })), BY_ID],
  ["purge jobs", jobs((statements) => statements.purge("app", 1000, 10)), ["job_ended"]],
  ["sweep requests", () => recordRequestStatements((requests) => requests.sweep()), ["request_expiry"]],
];

const SIZES = { few: 50, some: 1000, many: 100_000 };

export const JOBS: PlannedTables = {
  tables: ["perdure.job", "perdure.hook", "perdure.request"],
  fill: (client, size) => fill(client, SIZES[size]),
  statements: STATEMENTS,
  mostRows: 50,
};

/** A hundredth of the jobs runs, and a few of the others ended long ago. */
async function fill(client: Client, many: number): Promise<void> {
  await client.query(
    `insert into perdure.job (namespace, id, request, progress, started_at, available_at, ended_at)
    select 'app', 'job-' || lpad(number::text, 6, '0'), '{}', '{}', 0, case when number % 100 = 0 then number end,
      case when number % 100 > 0 then case when number <= 20 then number else 4000000000000 + number end end
    from generate_series(1, $1::int) as number`,
    [many],
  );
  await client.query(
    `insert into perdure.hook (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at, error)
    select 'app', 'hook-' || number, 'greet', '1', 0, 0, 0, 1, case when number % 10 > 0 then 4000000000000 + number end,
      case when number % 10 = 0 then '{}'::json end
    from generate_series(1, $1::int) as number`,
    [many],
  );
  await client.query(
    `insert into perdure.request (namespace, key, fingerprint, target, expires_at)
    select 'app', 'request-' || number, '', '{}', case when number <= 20 then number else 4000000000000 + number end
    from generate_series(1, $1::int) as number`,
    [many],
  );
}
