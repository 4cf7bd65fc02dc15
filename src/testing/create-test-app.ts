import type { HookDefinitions } from "../hooks/define-hook.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { TestApp } from "./test-app.ts";
import { parseTestAppOptions, type TestAppOptions } from "./test-app-options.ts";
import { type TestRehearsal, TestWorld } from "./test-world.ts";

/**
 * Starts an application for a test, on a database in memory, with a time of its own. Nothing runs until the test says so, and
 * nothing really waits.
 *
 * @example
 * await using app = await createTestApp({ hooks: { sendMail }, workflows: { checkout } });
 * await app.hooks.sendMail.trigger({ to: "ada@example.org" });
 * await app.runUntilIdle();
 * await app.advance("10 minutes"); // retries that are due by then
 */
export async function createTestApp<
  const Hooks extends HookDefinitions = Record<never, never>,
  const Registry extends Workflows = Record<never, never>,
>(options: TestAppOptions<Hooks, Registry> = {}): Promise<TestApp<Hooks, Registry>> {
  return new TestApp(await createTestWorld(options));
}

/** The same for those who need more power than a test. */
export async function createTestWorld<Hooks extends HookDefinitions, Registry extends Workflows>(
  options: TestAppOptions<Hooks, Registry>,
  rehearsal?: TestRehearsal<Hooks, Registry>,
): Promise<TestWorld<Hooks, Registry>> {
  const world = new TestWorld<Hooks, Registry>(parseTestAppOptions(options), rehearsal);
  try {
    await world.migrate();
    return world;
  } catch (error) {
    world.stop();
    throw error;
  }
}
