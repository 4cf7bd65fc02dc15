import { expect } from "vitest";
import { defineWorkflow, type WorkflowEvent, type WorkflowRollbackContext } from "../../../src/index.ts";
import type { Store } from "../../../src/store/store.ts";
import { Gate } from "../../hooks/support/handlers.ts";
import { eventually } from "./use-workflows.ts";

/** What an instance of the sample does, so that it is found in the state that a test is about. */
export type Mode = "work" | "sleep" | "hold" | "event" | "retry" | "complete" | "fail" | "undo" | "undoLater";

/** A workflow whose instances can be brought into every state, and what its steps saw. */
export class Sample {
  /** The step `work` waits for it. */
  readonly gate: Gate = new Gate();
  /** The steps that have begun. */
  readonly began: string[] = [];
  /** Of the steps that have begun, in that order. */
  readonly signals: AbortSignal[] = [];
  /** Whether runs that begin from now on are over at once. */
  easy = false;

  readonly workflow = defineWorkflow({ name: "sample" }, async (event: WorkflowEvent<Mode>, step) => {
    if (this.easy) return "easy";
    switch (event.payload) {
      case "work":
        await step.do("work", ({ signal }) => this.#begin("work", signal).then(() => this.gate.opened));
        break;
      case "sleep":
        await step.sleep("a while", "1 hour");
        break;
      case "hold":
        await step.sleep("a moment", "2 seconds");
        break;
      case "event":
        await step.waitForEvent("word", { type: "word", timeout: "1 day" });
        break;
      case "retry":
        await step.do("work", { retries: { limit: 1, delay: "1 hour" } }, async ({ attempt, signal }) => {
          await this.#begin(`work ${attempt}`, signal);
          if (attempt === 1) throw new Error("not yet");
        });
        break;
      case "undo": {
        const rollback = ({ ctx }: WorkflowRollbackContext) =>
          this.#begin("undo", ctx.signal).then(() => this.gate.opened);
        await step.do("work", () => {}, { rollback });
        throw new TypeError("no");
      }
      case "undoLater": {
        const rollback = ({ ctx }: WorkflowRollbackContext) =>
          this.#begin("undo", ctx.signal).then(() => Promise.reject(new Error("not yet")));
        await step.do("work", () => {}, { rollback, rollbackConfig: { retries: { limit: 1, delay: "1 hour" } } });
        throw new TypeError("no");
      }
      case "fail":
        throw new TypeError("no");
      default:
    }
    await step.do("after", ({ signal }) => this.#begin("after", signal));
    return event.payload;
  });

  async #begin(name: string, signal: AbortSignal): Promise<void> {
    this.began.push(name);
    this.signals.push(signal);
  }
}

/** Waits for the status of an instance, while the test's time stands still. */
export function becomes(
  instance: { status(): Promise<{ readonly status: string }> },
  ...wanted: readonly string[]
): Promise<void> {
  return eventually(async () => expect(wanted).toContain((await instance.status()).status));
}

interface Owner {
  readonly store: Store;
  readonly clock: { now(): number };
  readonly processor: { getNextWakeAt(): Promise<Date | null> };
  readonly fragment: { readonly namespace: string };
}

/** Waits until no process has any instance: what isn't finished waits, what it waits for is stored, and nothing is due. */
export function comesToRest({ store, fragment, clock, processor }: Owner): Promise<void> {
  const expectNothingDue = async () => {
    const next = await processor.getNextWakeAt();
    if (next !== null) expect(next.getTime()).toBeGreaterThan(clock.now());
  };
  return eventually(async () => {
    // Before and after: what is claimed in between, or given back, must not look like rest.
    await expectNothingDue();
    expect(await store.instances.statements.leaseTokens([fragment.namespace])).toEqual([]);
    await expectNothingDue();
  });
}
