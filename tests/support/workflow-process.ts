import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ProgramProcess } from "./program-process.ts";
import { waitUntil } from "./wait-until.ts";
import type { BodyEntry } from "./workflow-programs.ts";
import type { WorkflowProcessSettings, WorkflowRequest } from "./workflow-settings.ts";

const program = fileURLToPath(new URL("workflow-program.ts", import.meta.url));

/** Runs workflows in a process of its own; see workflow-program.ts. */
export class WorkflowProcess extends ProgramProcess<WorkflowRequest> {
  readonly #ledger: string;

  constructor(settings: WorkflowProcessSettings) {
    super(program, settings);
    this.#ledger = settings.ledger;
  }

  /** What the bodies of its steps wrote down. */
  get bodies(): BodyEntry[] {
    if (!existsSync(this.#ledger)) return [];
    const lines = readFileSync(this.#ledger, "utf8").split("\n").slice(0, -1); // the last may not be complete yet
    return lines.map((line) => JSON.parse(line) as BodyEntry);
  }

  /** The bodies that began here, in order. */
  get began(): { readonly instance: string; readonly step: string; readonly attempt: number }[] {
    return this.bodies
      .filter(({ event }) => event === "began")
      .map(({ instance, step, attempt }) => ({ instance, step, attempt }));
  }

  /** A body of this process has written that down. */
  seen(event: BodyEntry["event"], instance: string, step: string): Promise<BodyEntry> {
    return waitUntil(`${step} of ${instance} ${event} in process ${this.pid}; it said:\n${this.output}`, () =>
      this.bodies.find((one) => one.event === event && one.instance === instance && one.step === step),
    );
  }

  async request(request: WorkflowRequest): Promise<unknown> {
    return (await this.ask(request))["value"];
  }
}
