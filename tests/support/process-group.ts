import { join } from "node:path";
import { afterEach } from "vitest";
import { type HookPage, type HookStatistics, perdure, StoreError } from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { SharedDatabase } from "./shared-database.ts";
import { waitUntil } from "./wait-until.ts";
import { type RunEntry, WorkerProcess } from "./worker-process.ts";
import { type HookName, TRIGGERED_HOOKS, type WorkerApplication, type WorkerSettings } from "./worker-settings.ts";

/** A database, the test itself as a process that triggers, and worker processes. All of it is gone after each test. */
export function useProcessGroup(): ProcessGroup {
  const group = new ProcessGroup();
  afterEach(() => group.dispose());
  return group;
}

export class ProcessGroup extends SharedDatabase<WorkerApplication, WorkerProcess> {
  protected openApp(database: string): Promise<WorkerApplication> {
    const logger = new LogBook(); // log lines about the faults of a test don't matter
    return perdure({ database, hooks: TRIGGERED_HOOKS, worker: false, logger });
  }

  /** Starts a process, and doesn't wait for it. */
  launch(settings: Partial<WorkerSettings> = {}): WorkerProcess {
    const runLog = join(this.directory, `runs-${this.workers.length}`);
    const worker = WorkerProcess.start({ database: this.location, runLog, ...settings });
    this.workers.push(worker);
    return worker;
  }

  /** Starts a process, and waits until it is at work. */
  start(settings: Partial<WorkerSettings> = {}): Promise<WorkerProcess> {
    return this.launch(settings).ready();
  }

  async trigger(hook: HookName, count = 1, payload = ""): Promise<string[]> {
    const triggered = await Promise.all(Array.from({ length: count }, () => this.app.hooks[hook].trigger(payload)));
    return triggered.map(({ id }) => id);
  }

  /** What the handlers of all processes wrote down. */
  get runs(): RunEntry[] {
    return this.workers.flatMap((worker) => worker.runs);
  }

  statistics(): Promise<HookStatistics> {
    return this.app.durableHooks.statistics();
  }

  deadLetters(): Promise<HookPage> {
    return this.app.durableHooks.deadLetters();
  }

  /** Nothing waits and nothing runs. The database may be away for a moment. */
  async emptied(deadlineMs?: number): Promise<void> {
    const isEmpty = async () => {
      const statistics = await this.statistics().catch((error: unknown) => {
        if (error instanceof StoreError && error.transient) return null;
        throw error;
      });
      return statistics !== null && statistics.pending + statistics.processing === 0;
    };
    await waitUntil("all hooks had run", isEmpty, deadlineMs);
  }

  /** A handler of this process has written down that event. */
  async seen(worker: WorkerProcess, event: RunEntry["event"], hookId?: string): Promise<RunEntry> {
    return waitUntil(`a handler ${event} in process ${worker.pid}; it said:\n${worker.output}`, () =>
      worker.runs.find((run) => run.event === event && (hookId === undefined || run.hookId === hookId)),
    );
  }
}
