import {
  NonRetryableError,
  perdure,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowStep,
} from "../../src/index.ts";
import type { TestEngine, TestStore } from "../support/engines.ts";
import { type Answer, type AnyBinding, answer, type Call, type StepResults } from "./answer.ts";
import type { Begin, ProgramStep } from "./program.ts";
import { programOf } from "./programs/index.ts";
import type { Runner } from "./run-program.ts";
import { stepResults } from "./step-results.ts";
import { worldOf } from "./world.ts";

class ProgramWorkflow extends WorkflowEntrypoint<unknown, Begin["payload"]> {
  override async run(event: Readonly<WorkflowEvent<Begin["payload"]>>, step: WorkflowStep): Promise<unknown> {
    const world = { ...worldOf(event.instanceId), NonRetryableError };
    return programOf(event).run(step as unknown as ProgramStep, event, world);
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

  async ask(call: Call): Promise<Answer> {
    const binding = this.#app.workflows.programs as unknown as AnyBinding;
    // As it comes from a worker.
    return JSON.parse(JSON.stringify(await answer(binding, call, stepResults as unknown as StepResults))) as Answer;
  }

  async close(): Promise<void> {
    await this.#app.stop();
    await this.#database.dispose();
  }
}
