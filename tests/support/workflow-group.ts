import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { type Application, type HistoryItem, perdure, StoreError, type WorkflowBinding } from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { SharedDatabase } from "./shared-database.ts";
import { waitUntil } from "./wait-until.ts";
import { WorkflowProcess } from "./workflow-process.ts";
import { createPrograms, type ProgramName, type Programs } from "./workflow-programs.ts";
import type { WorkflowProcessSettings } from "./workflow-settings.ts";

const MOST_IN_BATCH = 100;
const MOST_IN_PAGE = 1000;
const FINISHED = ["complete", "errored", "terminated"] as const;

type WorkflowApplication = Application<Record<never, never>, Programs>;

/**
 * A database, the test itself as a process that creates instances, and processes that run them. All of it is gone after each
 * test.
 */
export function useWorkflowGroup(): WorkflowGroup {
  const group = new WorkflowGroup();
  afterEach(() => group.dispose());
  return group;
}

export class WorkflowGroup extends SharedDatabase<WorkflowApplication, WorkflowProcess> {
  protected openApp(database: string): Promise<WorkflowApplication> {
    const workflows = createPrograms({ write: () => {}, gate: Promise.resolve() });
    const logger = new LogBook(); // log lines about the faults of a test don't matter
    return perdure({ database, workflows, worker: false, logger });
  }

  /** What the bodies of all processes wrote down. */
  get began(): WorkflowProcess["began"] {
    return this.workers.flatMap(({ began }) => began);
  }

  /** Starts a process, and waits until it is at work. */
  start(settings: Partial<WorkflowProcessSettings> = {}): Promise<WorkflowProcess> {
    const ledger = join(this.directory, `bodies-${this.workers.length}`);
    const started = new WorkflowProcess({ database: this.location, ledger, ...settings });
    this.workers.push(started);
    return started.ready();
  }

  /** Creates instances with these ids. */
  async create(program: ProgramName, ids: readonly string[], params?: unknown): Promise<void> {
    const batch = ids.map((id) => ({ id, params: params as never }));
    for (let start = 0; start < batch.length; start += MOST_IN_BATCH) {
      const binding = this.app.workflows[program] as WorkflowBinding<unknown, unknown, never>;
      await binding.createBatch(batch.slice(start, start + MOST_IN_BATCH));
    }
  }

  async status(program: ProgramName, id: string): Promise<string> {
    return (await (await this.app.workflows[program].get(id)).status()).status;
  }

  async until(program: ProgramName, id: string, status: string): Promise<void> {
    await waitUntil(`${id} was ${status}`, async () => (await this.status(program, id)) === status);
  }

  async output(program: ProgramName, id: string): Promise<unknown> {
    return (await (await this.app.workflows[program].get(id)).status()).output;
  }

  async journal(program: ProgramName, id: string): Promise<readonly HistoryItem[]> {
    return (await (await this.app.workflows[program].get(id)).history({ limit: MOST_IN_PAGE })).entries;
  }

  /** Steps that are complete, in the order in which they were committed. */
  async completed(program: ProgramName, id: string): Promise<string[]> {
    const entries = (await this.journal(program, id)).filter(({ kind, type }) => kind === "completed" && type === "do");
    return entries.map(({ name, count }) => (count === 1 ? name : `${name}#${count}`));
  }

  /** Waits until so many instances are finished. The database may be away for a moment. */
  async finished(program: ProgramName, count: number, deadlineMs?: number): Promise<void> {
    const countFinished = async () => {
      let found = 0;
      for (const status of FINISHED) {
        found += (await this.app.workflows[program].list({ status, limit: MOST_IN_PAGE })).instances.length;
      }
      return found;
    };
    const areFinished = () =>
      countFinished().then(
        (found) => found === count,
        (error: unknown) => {
          if (error instanceof StoreError && error.transient) return false;
          throw error;
        },
      );
    await waitUntil(`${count} instances of ${program} were finished`, areFinished, deadlineMs);
  }

  /** All of these are complete, with these steps, each of which is in the journal once; gives how often each body began. */
  async expectComplete(program: ProgramName, ids: readonly string[], steps: readonly string[]): Promise<number[]> {
    const began = new Map<string, number>();
    for (const { instance, step } of this.began) {
      began.set(`${instance} ${step}`, (began.get(`${instance} ${step}`) ?? 0) + 1);
    }
    const counts: number[] = [];
    for (const id of ids) {
      const { status, output } = await (await this.app.workflows[program].get(id)).status();
      const completed = await this.completed(program, id);
      expect({ id, status, completed: completed.toSorted() }).toEqual({
        id,
        status: "complete",
        completed: [...steps].sort(),
      });
      if (Array.isArray(output) && program !== "wait") expect(output).toEqual(steps);
      counts.push(...steps.map((step) => began.get(`${id} ${step}`) ?? 0));
    }
    return counts;
  }
}

/** Names for so many instances. */
export function idsOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${prefix}-${number}`);
}
