import type { Engine } from "../harness/contender.ts";
import { type Databases, openDatabases } from "../harness/databases.ts";
import { engineOptions, parseSuiteOptions, readNumber } from "../harness/options.ts";
import { progress } from "../harness/progress.ts";
import { publish } from "../harness/report/publish.ts";
import type { Result } from "../harness/report/result.ts";
import { describeMachine } from "../harness/report/versions.ts";
import { startApplication } from "./application.ts";
import { openFiller } from "./filler.ts";
import { measureLists } from "./lists.ts";
import { FULL, type Scale, SHORT } from "./scale.ts";
import { measureSpeeds } from "./speeds.ts";

/** Room for as many as are in flight. */
const CONCURRENCY = 2000;
/** Of the finished ones. */
const FAILED_SHARE = 0.01;

/** Measures whether a full database is slower than an empty one: speed, CPU time, counts and lists. */
export async function runGrowthSuite(argv: string[]): Promise<boolean> {
  const options = parseSuiteOptions(argv, {
    ...engineOptions,
    finished: { type: "string" },
    sleeping: { type: "string" },
  });
  const defaults = options.values.short ? SHORT : FULL;
  const scale: Scale = {
    ...defaults,
    finished: readNumber("finished", options.values.finished, defaults.finished),
    sleeping: readNumber("sleeping", options.values.sleeping, defaults.sleeping),
  };
  const results: Result[] = [];
  const descriptions: string[] = [];
  for (const engine of options.engines) {
    progress(`growth, ${engine}`);
    await using databases = await openDatabases(engine);
    descriptions.push(databases.description);
    results.push(...(await measureEngine(engine, databases, scale)));
  }
  const settings = [
    `${describeMachine()}, one process`,
    ...descriptions,
    `ours: worker ${JSON.stringify({ concurrency: CONCURRENCY })}`,
    `grown: ${scale.finished} finished and ${scale.sleeping} sleeping instances, inserted by SQL as copies of real ones`,
    `speed: ${scale.workflows} three-step workflows, 500 in flight, in ${scale.rounds} round(s); empty and grown take turns`,
    `counts and lists: the first page of 100, read ${scale.reads} times after one that isn't counted`,
  ];
  await publish({ suite: "growth", results, versions: {}, settings, failures: [] }, options.values);
  return true;
}

async function measureEngine(engine: Engine, databases: Databases, scale: Scale): Promise<Result[]> {
  await using empty = await databases.create();
  await using grown = await databases.create();
  await using emptyApplication = await startApplication(empty.address, CONCURRENCY);
  await using grownApplication = await startApplication(grown.address, CONCURRENCY);
  const originals = await grownApplication.createOriginals();
  await emptyApplication.createOriginals();
  progress(`  inserting ${scale.finished} finished and ${scale.sleeping} sleeping instances`);
  {
    await using filler = await openFiller(engine, grown.address);
    const failed = Math.round(scale.finished * FAILED_SHARE);
    await filler.copy(originals.order, scale.finished - failed);
    await filler.copy(originals.failing, failed);
    await filler.copy(originals.reminder, scale.sleeping);
    await filler.settle();
  }
  await checkFilled(grownApplication, scale);
  const speeds = await measureSpeeds(
    engine,
    [
      { name: "empty", address: empty.address, application: emptyApplication },
      { name: "grown", address: grown.address, application: grownApplication },
    ],
    scale,
  );
  return [...speeds, ...(await measureLists(engine, grownApplication, scale))];
}

/** A filler that no longer fits the schema would make every figure look good. */
async function checkFilled({ app }: Awaited<ReturnType<typeof startApplication>>, scale: Scale): Promise<void> {
  const { total } = await app.instances.counts({ exact: true });
  const finished = total.complete + total.errored;
  if (finished < scale.finished || total.waiting < scale.sleeping) {
    throw new Error(
      `the database should have grown, but holds ${finished} finished and ${total.waiting} sleeping instances`,
    );
  }
}
