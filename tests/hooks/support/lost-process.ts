import { expect } from "vitest";
import type { TriggerOptions } from "../../../src/hooks/trigger.ts";
import { forever, recordCalls } from "./handlers.ts";
import { eventually, type HooksUnderTest } from "./use-hooks.ts";

/** Has a process run these payloads with the hook `greet`, and stop for ever in the middle of it. Returns the ids. */
export async function loseProcess<Payload>(
  test: HooksUnderTest,
  payloads: readonly Payload[],
  options: TriggerOptions = {},
): Promise<string[]> {
  const lost = recordCalls<Payload>(() => forever());
  const process = test.process({ greet: lost.definition }, { clock: test.anotherClock(), concurrency: 100 });
  const triggered = await Promise.all(
    payloads.map((payload) => (process.hooks.greet.trigger as Trigger<Payload>)(payload, options)),
  );
  process.drainBehind();
  await eventually(() => expect(lost.calls).toHaveLength(payloads.length));
  return triggered.map(({ id }) => id);
}

type Trigger<Payload> = (payload: Payload, options: TriggerOptions) => Promise<{ id: string }>;
