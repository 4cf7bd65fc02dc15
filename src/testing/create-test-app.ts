import type { HookDefinitions } from "../hooks/define-hook.ts";
import { TestApp } from "./test-app.ts";
import { parseTestAppOptions, type TestAppOptions } from "./test-app-options.ts";

/**
 * Starts an application for a test, on a database in memory, with a time of its own. Nothing runs until the test says so, and
 * nothing really waits.
 *
 * @example
 * await using app = await createTestApp({ hooks: { sendMail } });
 * await app.hooks.sendMail.trigger({ to: "ada@example.org" });
 * await app.runUntilIdle();
 * await app.advance("10 minutes"); // retries that are due by then
 */
export async function createTestApp<const Hooks extends HookDefinitions = Record<never, never>>(
  options: TestAppOptions<Hooks> = {},
): Promise<TestApp<Hooks>> {
  const app = new TestApp<Hooks>(parseTestAppOptions(options));
  try {
    await app.migrate();
    return app;
  } catch (error) {
    await app.stop();
    throw error;
  }
}
