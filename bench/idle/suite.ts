import { setTimeout as sleep } from "node:timers/promises";
import { countStatements } from "../harness/statement-counter.ts";
import { runSuite } from "../harness/suite.ts";
import type { Work } from "../harness/work.ts";
import type { IdleContender, IdleSession } from "./contender.ts";
import { PEERS } from "./peers.ts";
import { perdureWithEverything } from "./perdure.ts";
import { countSqliteStatements } from "./sqlite-statements.ts";

interface Scale {
  readonly rounds: number;
  readonly settleMilliseconds: number;
  readonly windowMilliseconds: number;
}

const FULL: Scale = { rounds: 1, settleMilliseconds: 5000, windowMilliseconds: 60_000 };
const SHORT: Scale = { rounds: 1, settleMilliseconds: 100, windowMilliseconds: 2000 };

const MINUTE_MILLISECONDS = 60_000;

const postgres: Work<IdleContender, Scale> = {
  name: "statements a minute",
  engines: ["postgres"],
  figures: [{ name: "statements a minute", unit: "statements/min", better: "lower" }],
  together: true,
  method: ({ windowMilliseconds }) =>
    `a worker with nothing to do, for ${windowMilliseconds / 1000} s; a proxy counts each Query and Execute message, heartbeats included. All
    contenders at once. Each does some work before and after, to show that its worker is there`,

  async run(contender, database, scale) {
    await using counter = await countStatements(database);
    await using session = await contender.open(counter.url);
    return [await measureIdle(session, () => counter.count, scale)];
  },
};

const sqlite: Work<IdleContender, Scale> = {
  name: "statements a minute in SQLite",
  engines: ["sqlite"],
  figures: [{ name: "statements a minute", unit: "statements/min", better: "lower" }],
  method: ({ windowMilliseconds }) =>
    `the same one after another, for ${windowMilliseconds / 1000} s each; each call of node:sqlite that runs a statement is counted`,

  async run(contender, database, scale) {
    using counter = countSqliteStatements();
    await using session = await contender.open(database);
    return [await measureIdle(session, () => counter.count, scale)];
  },
};

/** The statements of an idle worker, with everything that it looks after. */
export function runIdleSuite(argv: string[]): Promise<boolean> {
  const contenders = [perdureWithEverything("sqlite"), perdureWithEverything("postgres"), ...PEERS];
  return runSuite({ name: "idle", contenders, works: [sqlite, postgres], full: FULL, short: SHORT }, argv);
}

async function measureIdle(
  session: IdleSession,
  count: () => number,
  { settleMilliseconds, windowMilliseconds }: Scale,
): Promise<number> {
  await session.work();
  await sleep(settleMilliseconds);
  const before = count();
  await sleep(windowMilliseconds);
  const statements = count() - before;
  await session.work();
  return (statements / windowMilliseconds) * MINUTE_MILLISECONDS;
}
