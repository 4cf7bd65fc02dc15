import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { waitUntil } from "./wait-until.ts";
import type { WorkerMessage, WorkerRequest, WorkerSettings } from "./worker-settings.ts";

const program = fileURLToPath(new URL("worker-program.ts", import.meta.url));

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a handler wrote down. */
export interface RunEntry {
  readonly event: "ran" | "started" | "aborted" | "ended";
  readonly hookId: string;
  readonly hookName: string;
  readonly attempt: number;
}

/** A worker in a process of its own; see worker-program.ts. */
export class WorkerProcess {
  readonly pid: number;
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #runLog: string;
  readonly #said = new Map<string, WorkerMessage>();
  #output = "";
  #requests = 0;

  private constructor(child: ChildProcess, runLog: string) {
    this.#child = child;
    this.#runLog = runLog;
    this.pid = child.pid as number;
    this.ended = once(child, "exit").then(([code, signal]) => ({ code, signal }) as Ending);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    child.on("message", (message: WorkerMessage) => {
      this.#said.set("request" in message ? `request ${message.request}` : message.say, message);
    });
  }

  /** Starts the process; with `ready()` it is at work. */
  static start(settings: WorkerSettings): WorkerProcess {
    const child = fork(program, [JSON.stringify(settings)], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
    return new WorkerProcess(child, settings.runLog);
  }

  /** Everything that it printed. */
  get output(): string {
    return this.#output;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
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
    await this.#heard("loaded");
  }

  async ready(): Promise<this> {
    await this.#heard("ready");
    return this;
  }

  /** It has begun to stop, after SIGTERM. */
  async stopping(): Promise<void> {
    await this.#heard("stopping");
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Asks it to do something, and gives the ids that came of it. */
  async request(request: WorkerRequest): Promise<readonly string[]> {
    const number = ++this.#requests;
    this.#child.send({ number, request });
    const reply = await this.#heard(`request ${number}`);
    if (reply.say === "done") return reply.ids;
    throw new Error(reply.say === "failed" ? reply.problem : "Unexpected reply.");
  }

  #heard(what: string): Promise<WorkerMessage> {
    return waitUntil(`process ${this.pid} said "${what}"; it said:\n${this.#output}`, () => {
      const message = this.#said.get(what);
      if (message === undefined && !this.running) throw new Error(`The process ended:\n${this.#output}`);
      return message;
    });
  }
}
