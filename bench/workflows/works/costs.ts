import { bytesAllocated } from "../../harness/allocations.ts";
import { cpuOfBackends } from "../../harness/local-backends.ts";
import { openPostgresCount } from "../../harness/postgres-count.ts";
import { countStatements } from "../../harness/statement-counter.ts";
import type { Session, WorkflowContender } from "../contender.ts";
import { STEPS } from "../order.ts";
import type { Scale } from "../scale.ts";
import { WORK_NAMES } from "../work-names.ts";
import type { WorkflowWork } from "../workflow-work.ts";

const WARM_UP_SHARE = 0.25;
const WRITTEN = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as count";

/** The cost of a workflow, which varies little from run to run, even on a busy machine. */
export const costs: WorkflowWork = {
  name: WORK_NAMES.costs,
  engines: ["sqlite", "postgres"],
  figures: [
    { name: "CPU of Node", unit: "µs/workflow", better: "lower" },
    { name: "allocated", unit: "bytes/workflow", better: "lower" },
  ],
  method: ({ workflows }) =>
    `${workflows} ${STEPS}-step workflows that are started at once: the process's CPU time, and the bytes allocated on V8's heap`,

  async run(contender, database, scale) {
    await using session = await contender.open(database);
    const count = await warmUp(session, contender, scale);
    const before = process.cpuUsage();
    const bytes = await bytesAllocated(() => session.runMany(count));
    const { user, system } = process.cpuUsage(before);
    return [(user + system) / count, bytes / count];
  },
};

export const costsInPostgres: WorkflowWork = {
  name: WORK_NAMES.costsInPostgres,
  engines: ["postgres"],
  figures: [
    { name: "CPU of PostgreSQL", unit: "µs/workflow", better: "lower" },
    { name: "WAL", unit: "bytes/workflow", better: "lower" },
    { name: "statements", unit: "statements/workflow", better: "lower" },
  ],
  method: ({ workflows }) =>
    `${workflows} ${STEPS}-step workflows that are started at once: the CPU time of the server's processes for the database (on Linux,
    if the server is on this machine), the write-ahead log of the whole server, and the statements that pass a proxy`,

  async run(contender, database, scale) {
    await using counter = await countStatements(database);
    await using log = await openPostgresCount(database, WRITTEN);
    await using session = await contender.open(counter.url);
    const count = await warmUp(session, contender, scale);
    const cpu = await cpuOfBackends(database);
    const written = await log.count();
    const statements = counter.count;
    await session.runMany(count);
    const asked = (counter.count - statements) / count;
    const used = (await cpuOfBackends(database)) ?? Number.NaN;
    const wal = ((await log.count()) - written) / count;
    return [((used - (cpu ?? Number.NaN)) * 1000) / count, wal, asked];
  },
};

async function warmUp(session: Session, contender: WorkflowContender, { workflows }: Scale): Promise<number> {
  const count = Math.min(workflows, contender.maximumWorkflows ?? workflows);
  await session.runMany(Math.ceil(count * WARM_UP_SHARE));
  return count;
}
