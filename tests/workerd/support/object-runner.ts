import { env, runInDurableObject } from "cloudflare:test";
import { type RunnerTask, type RunnerTestCase, type RunnerTestFile, TestRunner } from "vitest";
import { enterObject } from "./object-under-test.ts";

type AnyFunction = (...parameters: unknown[]) => unknown;

/**
 * Only code that runs inside of a Durable Object can use its storage. So every test and every hook is run there: all of one file
 * in the same object.
 */
export default class ObjectRunner extends TestRunner {
  readonly #object = env.DATABASE.get(env.DATABASE.newUniqueId());

  onCollected(files: RunnerTestFile[]): void {
    for (const file of files) this.#moveHooksInside(file);
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    await this.#inside(() => TestRunner.getTestFn(test)());
  }

  #inside<Result>(body: () => Result): Promise<Awaited<Result>> {
    return runInDurableObject(this.#object, async (_instance, state) => {
      enterObject(state);
      return await body();
    });
  }

  #moveHooksInside(task: RunnerTask): void {
    if (task.type !== "suite") return;
    for (const hooks of Object.values(TestRunner.getSuiteHooks(task)) as AnyFunction[][]) {
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
