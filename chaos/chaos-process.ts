import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ProcessMessage, ProcessRequest, ProcessSettings } from "./settings.ts";

const program = fileURLToPath(new URL("process-program.ts", import.meta.url));
const OUTPUT_KEPT = 8192;

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process under chaos; see process-program.ts. */
export class ChaosProcess {
  readonly settings: ProcessSettings;
  readonly ended: Promise<Ending>;
  /** Whether it was asked to end, so that it isn't replaced as failed. */
  askedToStop = false;
  /** Whether it is suspended, or about to be. */
  frozen = false;
  ready = false;
  stoppedProducing = false;
  readonly #child: ChildProcess;
  #output = "";

  constructor(settings: ProcessSettings) {
    this.settings = settings;
    this.#child = fork(program, [JSON.stringify(settings)], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
    this.ended = once(this.#child, "exit").then(([code, signal]) => ({ code, signal }) as Ending);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output = (this.#output + text).slice(-OUTPUT_KEPT);
      });
    }
    this.#child.on("message", ({ say }: ProcessMessage) => {
      if (say === "ready") this.ready = true;
      else this.stoppedProducing = true;
    });
    this.#child.on("error", () => {}); // it ended while we sent to it
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The end of its output. */
  get output(): string {
    return this.#output;
  }

  send(request: ProcessRequest): void {
    if (this.#child.connected) this.#child.send(request, () => {}); // it may end any time
  }

  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child.kill(signal);
  }
}
