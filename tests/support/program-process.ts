import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { waitUntil } from "./wait-until.ts";

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What every program of ours says over the channel to its parent. */
export type ProgramMessage =
  | { readonly say: string }
  | { readonly say: "done" | "failed"; readonly request: number; readonly [detail: string]: unknown };

/** A process of a program that does what its parent asks, over the channel between them. */
export class ProgramProcess<Request> {
  readonly pid: number;
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #said = new Map<string, ProgramMessage>();
  #output = "";
  #requests = 0;

  constructor(program: string, settings: object) {
    const child = fork(program, [JSON.stringify(settings)], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
    this.#child = child;
    this.pid = child.pid as number;
    this.ended = once(child, "exit").then(([code, signal]) => ({ code, signal }) as Ending);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    child.on("message", (message: ProgramMessage) => {
      this.#said.set("request" in message ? `request ${message.request}` : message.say, message);
    });
  }

  /** Everything that it printed. */
  get output(): string {
    return this.#output;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async ready(): Promise<this> {
    await this.heard("ready");
    return this;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Asks it to do something, and gives what it says when it is done. */
  protected async ask(request: Request): Promise<Readonly<Record<string, unknown>>> {
    const number = ++this.#requests;
    this.#child.send({ number, request });
    const reply = (await this.heard(`request ${number}`)) as Record<string, unknown>;
    if (reply["say"] === "done") return reply;
    throw new Error(String(reply["problem"]));
  }

  protected heard(what: string): Promise<ProgramMessage> {
    return waitUntil(`process ${this.pid} said "${what}"; it said:\n${this.#output}`, () => {
      const message = this.#said.get(what);
      if (message === undefined && !this.running) throw new Error(`The process ended:\n${this.#output}`);
      return message;
    });
  }
}
