import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openPostgresCount } from "../../harness/postgres-count.ts";
import { STEPS } from "../order.ts";
import { COUNT_FINISHED } from "../perdure.ts";
import { WORK_NAMES } from "../work-names.ts";
import type { WorkflowWork } from "../workflow-work.ts";

const PROGRAM = fileURLToPath(new URL("../process.ts", import.meta.url));
const TURNS = 2;
const WARM_UP_SHARE = 0.25;
const PAUSE_MILLISECONDS = 1;

/** Measures whether a second process on the same PostgreSQL adds speed: a goal for us alone. */
export const twoProcesses: WorkflowWork = {
  name: WORK_NAMES.processes,
  engines: ["postgres"],
  figures: [
    { name: "one process", unit: "workflows/s", better: "higher" },
    { name: "two processes", unit: "workflows/s", better: "higher" },
    { name: "two processes ÷ one", unit: "times", better: "higher" },
  ],
  method: ({ workflows }) =>
    `processes of their own, each with a worker, that start ${workflows / TURNS} ${STEPS}-step workflows each at once, in ${TURNS} turns; until the
    database says that all are finished. The benchmark's own process only waits`,

  async run(_contender, database, { workflows }) {
    await using first = await startProcess(database);
    await using finished = await openPostgresCount(database, COUNT_FINISHED.postgres);
    let expected = 0;
    const run = async (processes: readonly Process[], each: number): Promise<number> => {
      const start = performance.now();
      const before = processes.reduce((sum, { returned }) => sum + returned, 0);
      const count = each * processes.length;
      expected += count;
      for (const one of processes) one.start(each);
      while (processes.reduce((sum, { returned }) => sum + returned, 0) - before < count)
        await sleep(PAUSE_MILLISECONDS);
      while ((await finished.count()) < expected) await sleep(PAUSE_MILLISECONDS);
      return (count / (performance.now() - start)) * 1000;
    };

    const each = Math.ceil(workflows / TURNS);
    const warmUp = Math.ceil(each * WARM_UP_SHARE);
    await run([first], warmUp);
    let [one, two] = [0, 0];
    for (let turn = 0; turn < TURNS; turn++) {
      one += (await run([first], each)) / TURNS;
      await using second = await startProcess(database);
      await run([first, second], warmUp);
      two += (await run([first, second], each)) / TURNS;
    }
    return [one, two, two / one];
  },
};

interface Process extends AsyncDisposable {
  /** Workflows that have returned in it. */
  readonly returned: number;
  start(count: number): void;
}

async function startProcess(database: string): Promise<Process> {
  const child: ChildProcess = fork(PROGRAM, [database], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  let returned = 0;
  child.on("message", (message: { returned: number }) => {
    returned += message.returned;
  });
  const exited = once(child, "exit");
  const ready = await Promise.race([once(child, "message").then(() => true), exited.then(() => false)]);
  if (!ready) throw new Error("a process of the benchmark ended before it was ready");
  return {
    get returned() {
      return returned;
    },
    start: (count) => void child.send({ start: count }),
    async [Symbol.asyncDispose]() {
      if (child.connected) child.send({ start: 0 });
      await exited;
    },
  };
}
