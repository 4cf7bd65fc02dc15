import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ProgramProcess } from "./program-process.ts";
import type { WorkerRequest, WorkerSettings } from "./worker-settings.ts";

const program = fileURLToPath(new URL("worker-program.ts", import.meta.url));

/** What a handler wrote down. */
export interface RunEntry {
  readonly event: "ran" | "started" | "aborted" | "ended";
  readonly hookId: string;
  readonly hookName: string;
  readonly attempt: number;
}

/** A worker in a process of its own; see worker-program.ts. */
export class WorkerProcess extends ProgramProcess<WorkerRequest> {
  readonly #runLog: string;

  private constructor(settings: WorkerSettings) {
    super(program, settings);
    this.#runLog = settings.runLog;
  }

  /** Starts the process; with `ready()` it is at work. */
  static start(settings: WorkerSettings): WorkerProcess {
    return new WorkerProcess(settings);
  }

  /** What its handlers wrote down. */
  get runs(): RunEntry[] {
    if (!existsSync(this.#runLog)) return [];
    const lines = readFileSync(this.#runLog, "utf8").split("\n").slice(0, -1); // the last may not be complete yet
    return lines.map((line) => {
      const [event, hookId, hookName, attempt] = line.split(" ") as [RunEntry["event"], string, string, string];
      return { event, hookId, hookName, attempt: Number(attempt) };
    });
  }

  /** Its code is there; next it opens its database. */
  async loaded(): Promise<void> {
    await this.heard("loaded");
  }

  /** It has begun to stop, after SIGTERM. */
  async stopping(): Promise<void> {
    await this.heard("stopping");
  }

  /** Asks it to do something, and gives the ids that came of it. */
  async request(request: WorkerRequest): Promise<readonly string[]> {
    return (await this.ask(request))["ids"] as readonly string[];
  }
}
