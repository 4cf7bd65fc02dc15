import type { Engine } from "../harness/contender.ts";
import { progress } from "../harness/progress.ts";
import type { Result } from "../harness/report/result.ts";
import { median } from "../harness/statistics.ts";
import type { GrowthApplication } from "./application.ts";
import type { Scale } from "./scale.ts";
import { summary } from "./speeds.ts";

const DAY_MILLISECONDS = 86_400_000;

/** Reads every count and every kind of list, and returns how long each takes. */
export async function measureLists(engine: Engine, { app }: GrowthApplication, { reads }: Scale): Promise<Result[]> {
  const { instances, workflows } = app;
  const since = Date.now() - DAY_MILLISECONDS;
  const { cursor } = await instances.list({ status: "complete" });
  const lists: Readonly<Record<string, () => Promise<unknown>>> = {
    "counts of all": () => instances.counts(),
    "counts of a workflow": () => workflows.order.counts(),
    "list, newest": () => instances.list(),
    "list, oldest": () => instances.list({ order: "oldest" }),
    "list of a workflow": () => workflows.order.list(),
    "list, complete": () => instances.list({ status: "complete" }),
    "list, complete, next page": () => instances.list({ status: "complete", ...(cursor !== null && { cursor }) }),
    "list, complete, oldest": () => instances.list({ status: "complete", order: "oldest" }),
    "list, errored": () => instances.list({ status: "errored" }),
    "list, waiting": () => instances.list({ status: "waiting" }),
    "list, waiting, oldest": () => instances.list({ status: "waiting", order: "oldest" }),
    "list, queued": () => instances.list({ status: "queued" }),
    "list, running": () => instances.list({ status: "running" }),
    "list, paused": () => instances.list({ status: "paused" }),
    "list, terminated": () => instances.list({ status: "terminated" }),
    "list, created within a day": () => instances.list({ createdFrom: since }),
    "list, created before a day": () => instances.list({ createdBefore: since }),
    "list, finished within a day": () => instances.list({ finishedFrom: since }),
    "list, waiting workflow that never waits": () => workflows.order.list({ status: "waiting" }),
    "list, errored workflow that never fails": () => workflows.order.list({ status: "errored" }),
  };
  const results: Result[] = [];
  for (const [name, read] of Object.entries(lists)) {
    await read(); // prepares the statement, as it is in an application that has run for a while
    const times: number[] = [];
    for (let index = 0; index < reads; index++) {
      const start = performance.now();
      await read();
      times.push(performance.now() - start);
    }
    progress(`  ${name}: ${median(times).toFixed(1)} ms`);
    results.push(summary(name, engine, times, "ms", "lower"));
  }
  const slowest = results.reduce((one, other) => ((other.ours ?? 0) > (one.ours ?? 0) ? other : one));
  return [...results, { ...slowest, work: `the slowest: ${slowest.work}` }];
}
