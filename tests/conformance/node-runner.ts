import {
  NonRetryableError,
  perdure,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowInstance,
  type WorkflowStep,
} from "../../src/index.ts";
import type { TestEngine, TestStore } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { FINISHED, type Outcome, type Runner, toOutcome } from "./outcome.ts";
import { type Begin, PROGRAMS, type Program, type ProgramStep } from "./programs.ts";
import { stepResults } from "./step-results.ts";

class ProgramWorkflow extends WorkflowEntrypoint<unknown, Begin["payload"]> {
  override async run(event: Readonly<WorkflowEvent<Begin["payload"]>>, step: WorkflowStep): Promise<unknown> {
    const program = PROGRAMS.find(({ name }) => name === event.payload.program);
    return program?.run(step as unknown as ProgramStep, event, { NonRetryableError });
  }
}

const start = (database: string) =>
  perdure({ database, workflows: { programs: ProgramWorkflow }, logger: { info() {}, warn() {}, error() {} } });

/** Our engine in Node. */
export class NodeRunner implements Runner {
  readonly #database: TestStore;
  readonly #app: Awaited<ReturnType<typeof start>>;

  private constructor(database: TestStore, app: Awaited<ReturnType<typeof start>>) {
    this.#database = database;
    this.#app = app;
  }

  static async start(engine: TestEngine): Promise<NodeRunner> {
    const database = await engine.createEmpty();
    return new NodeRunner(database, await start(database.location));
  }

  async run(program: Program): Promise<Outcome> {
    const { programs } = this.#app.workflows;
    const instance: WorkflowInstance = await programs.create({ params: { program: program.name } });
    for (const event of program.events ?? []) await instance.sendEvent(event);
    return waitUntil(`"${program.name}" has ended`, async () => {
      const status = await instance.status();
      if (!FINISHED.includes(status.status)) return undefined;
      return toOutcome({ ...status, steps: await stepResults(instance) });
    });
  }

  async close(): Promise<void> {
    await this.#app.stop();
    await this.#database.dispose();
  }
}
