import { env, runInDurableObject } from "cloudflare:test";
import { type RunnerTask, type RunnerTestCase, type RunnerTestFile, type SerializedConfig, TestRunner } from "vitest";
import { LateRejections } from "./late-rejections.ts";
import { enterObject } from "./object-under-test.ts";

type AnyFunction = (...parameters: unknown[]) => unknown;

/** Names of tests may have lone surrogates, which the connection to Vitest refuses. */
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (message) {
  send.call(this, typeof message === "string" ? message.toWellFormed() : message);
};

/** Tests that make objects of their own. */
const OUTSIDE = "/tests/workerd/";

/**
 * Only code that runs inside a Durable Object can use its storage. So every test and every hook of the shared suite is run
 * there: all of one file in the same object.
 */
export default class ObjectRunner extends TestRunner {
  readonly #rejections: LateRejections;
  readonly #object = env.DATABASE.get(env.DATABASE.newUniqueId());

  constructor(config: SerializedConfig) {
    super(config);
    this.#rejections = new LateRejections();
  }

  onCollected(files: RunnerTestFile[]): void {
    for (const file of files) if (!file.filepath.includes(OUTSIDE)) this.#moveHooksInside(file);
  }

  override onAfterRunFiles(): void {
    this.#rejections.report();
    super.onAfterRunFiles();
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = () => TestRunner.getTestFn(test)();
    await (test.file.filepath.includes(OUTSIDE) ? run() : this.#inside(run));
  }

  #inside<Result>(body: () => Result): Promise<Awaited<Result>> {
    return runInDurableObject(this.#object, async (_instance, state) => {
      enterObject(state);
      return await body();
    });
  }

  #moveHooksInside(task: RunnerTask): void {
    if (task.type !== "suite") return;
    // A file that couldn't be loaded has none.
    for (const hooks of Object.values(TestRunner.getSuiteHooks(task) ?? {}) as AnyFunction[][]) {
      hooks.splice(0, hooks.length, ...hooks.map((hook) => this.#moveInside(hook)));
    }
    for (const child of task.tasks) this.#moveHooksInside(child);
  }

  /** What a hook returns is called when the test is over. */
  #moveInside(hook: AnyFunction): AnyFunction {
    return async (...parameters) => {
      const result = await this.#inside(() => hook(...parameters));
      return typeof result === "function" ? this.#moveInside(result as AnyFunction) : result;
    };
  }
}
