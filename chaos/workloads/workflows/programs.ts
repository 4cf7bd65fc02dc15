import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  defineWorkflow,
  NonRetryableError,
  type WorkflowDefinition,
  type WorkflowStep,
  type WorkflowStepContext,
} from "../../../src/index.ts";
import { LEASE_MS } from "../../settings.ts";
import type { WorkingProcess } from "../../workload.ts";
import { rightTime } from "../../wrong-clock.ts";
import { EVENTS, EXPECTED_ERROR, kindOf, type Output, type Params, type ProgramName } from "./kinds.ts";

type ChaosWorkflow = WorkflowDefinition<Params, Output, Record<string, unknown>>;
export type ChaosWorkflows = { readonly chaos: ChaosWorkflow; readonly chaosChild: ChaosWorkflow };

const LONGEST_WORK_MS = 30;
const LOOK_MS = 20;
/** Innocent items are retried for as long as chaos lasts; others get few attempts, so that they end. */
const INNOCENT = { retries: { limit: 200, delay: 50, backoff: "constant" } } as const;
const FEW = { retries: { limit: 2, delay: 50, backoff: "constant" } } as const;

/**
 * What instances do. The body of each step records in the ledger that it began and that it ran, and returns a unique token: so
 * the accounts can tell whose result was stored, and whether the code received that one.
 */
export function createWorkflows(working: WorkingProcess): ChaosWorkflows {
  const run = (item: string, { kind }: Params, step: WorkflowStep) => {
    const { program, waitMs = 0 } = kindOf(kind);
    return new Run(working, item, step, waitMs).run(program);
  };
  return {
    chaos: defineWorkflow<Params, undefined, undefined, Output>({ name: "chaos" }, ({ instanceId, payload }, step) =>
      run(instanceId, payload, step),
    ),
    // They wait in line, so that faults hit admissions, too.
    chaosChild: defineWorkflow<Params, undefined, undefined, Output>(
      { name: "chaosChild", concurrency: { limit: 4 } },
      ({ instanceId, payload }, step) => run(instanceId, payload, step),
    ),
  };
}

class Run {
  readonly #working: WorkingProcess;
  readonly #item: string;
  readonly #step: WorkflowStep;
  readonly #waitMs: number;
  readonly #seen: Record<string, string> = {};
  readonly #events: number[] = [];
  readonly #children: string[] = [];

  constructor(working: WorkingProcess, item: string, step: WorkflowStep, waitMs: number) {
    this.#working = working;
    this.#item = item;
    this.#step = step;
    this.#waitMs = waitMs;
  }

  async run(program: ProgramName): Promise<Output> {
    await this.#do("first");
    await this.#behave(program);
    await this.#do("last");
    return { seen: this.#seen, events: this.#events, children: this.#children };
  }

  async #behave(program: ProgramName): Promise<unknown> {
    switch (program) {
      case "sequence":
        await this.#do("effect", (ctx) => this.#effect(ctx));
        return this.#do("again");
      case "parallel":
        await Promise.all([this.#do("left"), this.#do("right", (ctx) => this.#effect(ctx))]);
        return Promise.race([this.#do("hare"), this.#do("tortoise")]);
      case "sleeper":
        return this.#step.sleep("sleep", this.#waitMs);
      case "listener":
        for (const _ of EVENTS) await this.#listen();
        return;
      case "stubborn":
        return this.#do("stubborn", ({ attempt }) => {
          if (attempt <= 2) throw new Error("not at the first attempts");
        });
      case "refuse":
        return this.#do("refused", () => {
          throw new NonRetryableError(EXPECTED_ERROR.refused);
        });
      case "exhaust":
        return this.#do("exhausted", () => Promise.reject(new Error(EXPECTED_ERROR.exhausted)), FEW);
      case "parent":
        return this.#createChildren();
      case "late":
        return this.#do("late", ({ attempt }) => beLate(attempt, join(this.#working.directory, `${this.#item}.sign`)));
    }
  }

  async #do(
    name: string,
    act: (ctx: WorkflowStepContext) => unknown = () => {},
    config: typeof INNOCENT | typeof FEW = INNOCENT,
  ): Promise<void> {
    this.#seen[name] = await this.#step.do(name, config, (ctx) => this.#body(ctx, act));
  }

  async #body(ctx: WorkflowStepContext, act: (ctx: WorkflowStepContext) => unknown): Promise<string> {
    const { random, points, write } = this.#working;
    const token = randomUUID();
    const what = { step: ctx.step.name, attempt: ctx.attempt, key: ctx.idempotencyKey, token };
    write("began", this.#item, { ...what, time: rightTime() });
    await delay(random.integer(0, LONGEST_WORK_MS));
    points.reach("mid-step");
    await act(ctx);
    write("ran", this.#item, { token });
    return token;
  }

  async #effect({ idempotencyKey }: WorkflowStepContext): Promise<void> {
    await this.#working
      .app()
      .unitOfWork(
        (uow) =>
          uow.sql`insert into chaos_step_effect (key, item) values (${idempotencyKey}, ${this.#item}) on conflict do nothing`,
      );
  }

  /** However often it has to wait, the event is sent at the end. */
  async #listen(): Promise<void> {
    for (;;) {
      try {
        const { payload } = await this.#step.waitForEvent<number>("event", { type: "go", timeout: this.#waitMs });
        this.#events.push(payload);
        return;
      } catch (error) {
        if ((error as Error).name !== "EventTimeoutError") throw error;
      }
    }
  }

  async #createChildren(): Promise<void> {
    const params: Params = { kind: "child" };
    const named = await this.#step.create<ChaosWorkflow>("chaosChild", { id: `${this.#item}.child`, params });
    const unnamed = await this.#step.create<ChaosWorkflow>("chaosChild", { params });
    this.#children.push(named.id, unnamed.id);
  }
}

/**
 * The first attempt blocks its process, timers included, until another worker has taken over, or none does. It ends while its
 * successor is still running, late enough for every process's clock to show that. Its late result must not count.
 */
function beLate(attempt: number, sign: string): Promise<void> | undefined {
  if (attempt > 1) {
    writeFileSync(sign, "");
    return delay(LEASE_MS);
  }
  const giveUpAt = performance.now() + LEASE_MS * 6;
  const bell = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(sign) && performance.now() < giveUpAt) Atomics.wait(bell, 0, 0, LOOK_MS);
  Atomics.wait(bell, 0, 0, LEASE_MS * 0.4);
  return undefined;
}
