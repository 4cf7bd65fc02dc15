import { EventTimeoutError, NonRetryableError } from "../../src/errors.ts";
import type { OwnedTransaction } from "../../src/queue/owned-transaction.ts";
import { describeError } from "../../src/values/index.ts";
import type { WorkflowStep, WorkflowStepContext } from "../../src/workflows/define/step.ts";
import type { WorkflowEvent } from "../../src/workflows/define/workflow-event.ts";
import type { WorkflowInstance } from "../../src/workflows/instances/instance.ts";
import type { BodyRun, Witness } from "../books/body-book.ts";
import { stepOf } from "../books/instance-account.ts";
import type { Told } from "../books/progress-book.ts";
import type { Behaviour } from "../books/trigger-record.ts";
import type { Params } from "../checks/instance-records.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { DEFAULT_LIMIT, KEPT_PROGRESS, LEDGER } from "../names.ts";
import { behave, never } from "./behave.ts";
import { planned } from "./planned.ts";
import { PIECES, pour } from "./poured.ts";
import { createRollback } from "./scripted-rollback.ts";

type StepType = "do" | "sleep" | "waitForEvent" | "create" | "result";

interface BodyOptions {
  readonly limit?: number;
  /** How often the function emits progress. */
  readonly tells?: number;
  /** How often its rollback is retried; without a number, it has none. */
  readonly undo?: number;
  /** What else the function does: it may call further steps. */
  readonly inside?: () => Promise<unknown>;
}

/** How long a function may take: less than those that hang do. */
const TIMEOUT_MS = 40_000;

/** The database waits for a transaction. */
const TRANSACTION_TIMEOUT_MS = 4000;

/** The steps of a simulated workflow: they do what the params say, and record everything that the code receives. */
export class Script implements Witness {
  readonly seen: string[] = [];
  readonly orderly: boolean;
  readonly solo: boolean;
  readonly params: Params;
  readonly #process: SimulatedProcess;
  readonly #step: WorkflowStep;
  readonly #workflow: string;
  readonly #instanceId: string;
  /** The token with which the instance is run. */
  readonly #lock: string | null;
  readonly #counts = new Map<string, number>();
  /** By workflow and id. */
  readonly #children = new Map<string, WorkflowInstance>();

  constructor(
    process: SimulatedProcess,
    step: WorkflowStep,
    event: WorkflowEvent<Params>,
    kind: { orderly: boolean; solo: boolean },
  ) {
    this.#process = process;
    this.#step = step;
    this.#workflow = event.workflowName;
    this.#instanceId = event.instanceId;
    this.params = event.payload;
    this.#lock = process.surroundings.instances.waits.lockOf(process.name, this.#name);
    this.orderly = kind.orderly;
    this.solo = kind.solo;
  }

  do(name: string, options: BodyOptions = {}): Promise<unknown> {
    const { limit = DEFAULT_LIMIT } = options;
    const keep = name === KEPT_PROGRESS ? { progress: "keep" as const } : {};
    const config = { retries: { limit, delay: this.params.short }, timeout: TIMEOUT_MS, ...keep };
    const rollback = options.undo === undefined ? [] : [createRollback(this.#process, this.params, options.undo)];
    const run = (ctx: WorkflowStepContext) =>
      this.#body(ctx, limit, async () => {
        await this.#tell(ctx, options.tells ?? 0);
        await options.inside?.();
      });
    return this.#call(name, limit, () => this.#step.do(name, config, run, ...rollback));
  }

  /** A step that writes its key into the ledger, in its own transaction. */
  transact(name: string): Promise<unknown> {
    const config = { retries: { limit: DEFAULT_LIMIT, delay: this.params.short }, timeout: TRANSACTION_TIMEOUT_MS };
    const run = (tx: OwnedTransaction, ctx: WorkflowStepContext) =>
      this.#body(ctx, DEFAULT_LIMIT, () => tx.sql`insert into ledger (key) values (${ctx.idempotencyKey})`);
    return this.#call(name, DEFAULT_LIMIT, () => this.#step.transaction(name, config, run));
  }

  /** A step whose function gives a stream, which is read to its end. */
  async stream(name: string): Promise<void> {
    const config = { retries: { limit: DEFAULT_LIMIT, delay: this.params.short }, timeout: TIMEOUT_MS };
    const given = await this.#call(name, DEFAULT_LIMIT, () => this.#step.do(name, config, (ctx) => this.#pour(ctx)));
    let text = "";
    for await (const piece of given as ReadableStream<string>) text += piece;
    this.#process.surroundings.instances.streams.read(this.#instanceId, text);
  }

  /** A step that always fails. */
  refuse(name: string): Promise<unknown> {
    const inside = async () => {
      throw new NonRetryableError("simulated refusal");
    };
    return this.do(name, { inside });
  }

  /** A step that is called inside another one's function. When the outer step is stored, it is never called again. */
  inner(name: string): Promise<unknown> {
    const config = { retries: { limit: DEFAULT_LIMIT, delay: this.params.short }, timeout: TIMEOUT_MS };
    return this.#step.do(name, config, (ctx) => this.#body(ctx, DEFAULT_LIMIT, async () => {}));
  }

  async sleep(name: string, milliseconds: number): Promise<unknown> {
    const identity = this.#identify("sleep", name);
    const { waits } = this.#process.surroundings.instances;
    const earliest = waits.called(this.#lock, this.#name, identity, milliseconds);
    const value = await this.#witness(identity, () => this.#step.sleep(name, milliseconds));
    waits.ended(`${this.#instanceId}/${identity}`, earliest);
    return value;
  }

  /** Returns the event's number, or null if none came in time. The name begins with the type. */
  async wait(name: string, timeout: number): Promise<number | null> {
    const [type] = name.split(" ") as [string];
    const identity = this.#identify("waitForEvent", name);
    const { waits } = this.#process.surroundings.instances;
    const earliest = waits.called(this.#lock, this.#name, identity, timeout);
    try {
      const wait = () => this.#step.waitForEvent<{ n: number }>(name, { type, timeout });
      const { payload } = (await this.#witness(identity, wait)) as { payload: { n: number } };
      return payload.n;
    } catch (error) {
      if (!(error instanceof EventTimeoutError)) throw error;
      waits.ended(`${this.#instanceId}/${identity}`, earliest);
      return null;
    }
  }

  /** Creates a child, and returns its id. */
  async create(workflow: string, params: Params): Promise<string> {
    const identity = this.#identify("create", workflow);
    const create = () => this.#step.create(workflow, { params });
    const child = (await this.#witness(identity, create)) as WorkflowInstance;
    this.#children.set(`${workflow}/${child.id}`, child);
    return child.id;
  }

  /** Waits for the end of a child. */
  result(workflow: string, id: string): Promise<unknown> {
    const name = `${workflow}/${id}`;
    const child = this.#children.get(name) as WorkflowInstance;
    return this.#witness(this.#identify("result", name), () => child.result());
  }

  /** Waits for something that isn't a step. */
  pause(milliseconds: number): Promise<void> {
    return this.#process.surroundings.world.delay(this.#process.lane, milliseconds);
  }

  /** Ends the process, if the plan says so. */
  mayKill(): void {
    if (this.params.plans[0]?.[0] === "kill") this.#process.kill("its workflow ends it");
  }

  get #name(): { name: string; id: string } {
    return { name: this.#workflow, id: this.#instanceId };
  }

  #call(name: string, limit: number, call: () => Promise<unknown>): Promise<unknown> {
    const identity = this.#identify("do", name);
    this.#process.surroundings.instances.bodies.called(this.#workflow, identity, limit);
    return this.#witness(identity, call);
  }

  /** Awaits that some of it is stored, and some not. A process that has lost its instance gets an error, and ignores it. */
  async #tell(ctx: WorkflowStepContext, times: number): Promise<void> {
    const { progress } = this.#process.surroundings.instances;
    for (let told = 0; told < times; told++) {
      const stored = ctx.emit({ told } satisfies Told).then(
        () => progress.acknowledged(this.#process.name, ctx, told),
        () => {},
      );
      if (told % 2 === 0) await stored;
    }
  }

  #identify(type: StepType, name: string): string {
    const key = `${type}:${name}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return stepOf({ type, name, count });
  }

  async #witness(identity: string, call: () => Promise<unknown>): Promise<unknown> {
    if (this.#process.lane.closed) return never(); // what is left of this turn when the process has been ended
    try {
      const value = await call();
      this.seen.push(`${identity} ${describeValue(value)}`);
      return value;
    } catch (error) {
      this.seen.push(`${identity} ${error instanceof EventTimeoutError ? "timedOut" : "failed"}`);
      throw error;
    }
  }

  async #body(ctx: WorkflowStepContext, limit: number, inside: () => Promise<unknown>): Promise<unknown> {
    if (this.#process.lane.closed) return never();
    const body = this.#begin(ctx, limit);
    try {
      await inside();
      await behave(this.#process, this.#behaviour(ctx), ctx);
      this.#end(body, "succeeded");
      return { name: ctx.step.name, count: ctx.step.count };
    } catch (error) {
      this.#fail(body, error);
      throw error;
    }
  }

  /** What the plan says happens in the middle of the stream. */
  async #pour(ctx: WorkflowStepContext): Promise<ReadableStream<string>> {
    if (this.#process.lane.closed) return never();
    const body = this.#begin(ctx, DEFAULT_LIMIT);
    const call = String(this.#process.surroundings.instances.bodies.runs.length);
    let piece = 0;
    const pull = async (controller: ReadableStreamDefaultController<string>) => {
      try {
        if (piece === PIECES - 1) await behave(this.#process, this.#behaviour(ctx), ctx);
        if (piece === PIECES) {
          this.#end(body, "succeeded");
          controller.close();
        } else controller.enqueue(pour(body.key, call, ++piece));
      } catch (error) {
        this.#fail(body, error);
        throw error;
      }
    };
    const cancel = () => this.#end(body, "aborted");
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  #begin(ctx: WorkflowStepContext, limit: number): BodyRun {
    const { world, instances, watchOverlap } = this.#process.surroundings;
    const behaviour = this.#behaviour(ctx);
    const body = instances.bodies.started(this.#process.name, ctx, limit, this);
    body.effect = behaviour === "effect";
    world.note(this.#process.name, `${body.key} begins, attempt ${ctx.attempt}: ${behaviour}`);
    for (const earlier of instances.bodies.besides(body)) watchOverlap(earlier, body);
    return body;
  }

  #fail(body: BodyRun, error: unknown): void {
    this.#end(body, isRefusal(error) ? "refused" : body.aborted() ? "aborted" : "threw");
  }

  /** A transaction has no other transaction inside. */
  #behaviour({ step, attempt }: WorkflowStepContext): Behaviour {
    const behaviour = planned(this.params, step.name, attempt);
    if (!step.name.startsWith(LEDGER)) return behaviour;
    if (behaviour === "effect" || behaviour === "chain") return "succeed";
    return behaviour === "effect-and-kill" ? "kill" : behaviour;
  }

  #end(body: BodyRun, ending: BodyRun["ending"]): void {
    const { world, instances } = this.#process.surroundings;
    instances.bodies.ended(body, ending);
    world.note(this.#process.name, `${body.key} ${ending}`);
  }
}

/** The refusal of an inner step is a copy by the time that the outer one throws it: it has the name, but not the class. */
function isRefusal(error: unknown): boolean {
  return describeError(error).name === "NonRetryableError";
}

function describeValue(value: unknown): string {
  const payload = Reflect.get(Object(value), "payload") as { n: number } | undefined;
  return payload === undefined ? "completed" : `received ${payload.n}`;
}
