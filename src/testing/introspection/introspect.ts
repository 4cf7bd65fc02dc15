import { InvalidInputError, PerdureError } from "../../errors.ts";
import type { HookDefinitions } from "../../hooks/define-hook.ts";
import type { InstanceStatus } from "../../store/instances/instance-records.ts";
import type { Workflows } from "../../workflows/define/workflow-types.ts";
import type { WorkflowInstance } from "../../workflows/instances/instance.ts";
import type { HistoryItem } from "../../workflows/views/history-page.ts";
import type { TestWorld } from "../test-world.ts";
import type { Modifications, StepTarget, WorkflowInstanceModifier } from "./modifications.ts";

type World = TestWorld<HookDefinitions, Workflows>;

/** A workflow of a test application. */
interface Introspectable {
  readonly world: World;
  readonly key: string;
}

const FINAL: readonly string[] = ["complete", "errored", "terminated"] satisfies InstanceStatus[];

const introspectables = new WeakMap<object, Introspectable>();

/** Bindings of a test application can be introspected. */
export function makeIntrospectable(binding: object, world: World, key: string): void {
  introspectables.set(binding, { world, key });
}

/**
 * Changes how one instance runs, and waits for its results; it need not exist yet.
 *
 * @example
 * await using instance = await introspectWorkflowInstance(app.workflows.checkout, "order-1");
 * await instance.modify(async (m) => m.mockStepResult({ name: "charge" }, { id: "charge-1" }));
 * await app.workflows.checkout.create({ id: "order-1", params: order });
 * await instance.waitForStatus("complete");
 */
export async function introspectWorkflowInstance(
  workflow: object,
  instanceId: string,
): Promise<WorkflowInstanceIntrospector> {
  const { world, key } = find(workflow);
  const { modifications, drop } = world.rehearsals.add(key, instanceId);
  return new WorkflowInstanceIntrospector(world, key, instanceId, modifications, drop);
}

/** The same for all instances of a workflow that begin from now on, whose ids aren't known yet. */
export async function introspectWorkflow(workflow: object): Promise<WorkflowIntrospector> {
  const { world, key } = find(workflow);
  return new WorkflowIntrospector(world, key);
}

export class WorkflowInstanceIntrospector implements AsyncDisposable {
  readonly id: string;
  readonly #world: World;
  readonly #key: string;
  readonly #modifications: Modifications;
  readonly #drop: () => void;

  /** @internal */
  constructor(world: World, key: string, id: string, modifications: Modifications, drop: () => void) {
    this.id = id;
    this.#world = world;
    this.#key = key;
    this.#modifications = modifications;
    this.#drop = drop;
  }

  async modify(change: (modifier: WorkflowInstanceModifier) => Promise<void> | void): Promise<this> {
    await change(this.#modifications);
    return this;
  }

  /** Runs the application, and lets time pass, until the step has ended. Gives its result, or throws what it failed with. */
  waitForStepResult(step: StepTarget): Promise<unknown> {
    return this.#world.runUntil(`the step "${step.name}" has ended`, async () => {
      const ending = await findStepEnding(this.#instance(), step, (entry) =>
        this.#world.here().storedStream(this.#key, this.id, entry),
      );
      if (ending !== null && "error" in ending) throw ending.error;
      if (ending === null) await this.#refuseOther(`the step "${step.name}" has ended`);
      return ending;
    });
  }

  /** Runs the application, and lets time pass, until the instance has this status. */
  async waitForStatus(status: InstanceStatus): Promise<void> {
    await this.#world.runUntil(`the instance "${this.id}" is ${status}`, async () => {
      const present = await this.#status();
      if (present === status) return { value: undefined };
      await this.#refuseOther(`it is ${status}`);
      return null;
    });
  }

  /** The output of a complete instance. */
  async getOutput(): Promise<unknown> {
    const { status, output } = await this.#instance().status();
    if (status === "complete") return output;
    throw new PerdureError("testing.no_outcome", `The instance "${this.id}" is ${status}: it has no output.`);
  }

  /** The error of an errored instance. */
  async getError(): Promise<{ readonly name: string; readonly message: string }> {
    const { status, error } = await this.#instance().status();
    if (error !== undefined) return error;
    throw new PerdureError("testing.no_outcome", `The instance "${this.id}" is ${status}: it has no error.`);
  }

  /** The instance runs as it is written again. */
  async dispose(): Promise<void> {
    this.#drop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #instance(): WorkflowInstance {
    return this.#world.here().instance(this.#key, this.id);
  }

  /** Null while it doesn't exist. */
  async #status(): Promise<InstanceStatus | null> {
    try {
      return (await this.#instance().status()).status;
    } catch (error) {
      if (error instanceof PerdureError && error.code === "instance.not_found") return null;
      throw error;
    }
  }

  /** Throws if the instance is finished: it can't reach another status. */
  async #refuseOther(wanted: string): Promise<void> {
    const status = await this.#status();
    if (status === null || !FINAL.includes(status)) return;
    throw new PerdureError("testing.not_reached", `The instance "${this.id}" is ${status}, before ${wanted}.`);
  }
}

export class WorkflowIntrospector implements AsyncDisposable {
  readonly #world: World;
  readonly #key: string;
  readonly #modifications: Modifications;
  readonly #collected: { readonly ids: ReadonlySet<string>; stop(): void };
  /** What this one and those that it has given have changed. */
  readonly #drops: (() => void)[];

  /** @internal */
  constructor(world: World, key: string) {
    const { modifications, drop } = world.rehearsals.add(key, null);
    this.#world = world;
    this.#key = key;
    this.#modifications = modifications;
    this.#drops = [drop];
    this.#collected = world.rehearsals.collect(key);
  }

  async modifyAll(change: (modifier: WorkflowInstanceModifier) => Promise<void> | void): Promise<void> {
    await change(this.#modifications);
  }

  /** One for each instance that was created since, in that order. */
  async get(): Promise<WorkflowInstanceIntrospector[]> {
    return Array.from(this.#collected.ids, (id) => {
      const { modifications, drop } = this.#world.rehearsals.add(this.#key, id);
      this.#drops.push(drop);
      return new WorkflowInstanceIntrospector(this.#world, this.#key, id, modifications, drop);
    });
  }

  /** All instances run as they are written again. */
  async dispose(): Promise<void> {
    this.#collected.stop();
    for (const drop of this.#drops) drop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

function find(workflow: object): Introspectable {
  const found = typeof workflow === "object" && workflow !== null ? introspectables.get(workflow) : undefined;
  if (found !== undefined) return found;
  throw new InvalidInputError(
    "options.invalid",
    "Only a workflow of a test application can be introspected: app.workflows.KEY, of createTestApp.",
  );
}

type FoundEnding = { readonly value: unknown } | { readonly error: Error };

const PAGE = 1000;

/** How a step of the present run has ended; null if it hasn't. */
async function findStepEnding(
  instance: WorkflowInstance,
  { name, index = 1 }: StepTarget,
  openStream: (entry: HistoryItem) => Promise<ReadableStream | null>,
): Promise<FoundEnding | null> {
  for await (const entry of entriesOf(instance)) {
    if (entry.name !== name || entry.count !== index) continue;
    const stream = isStream(entry.output) ? await openStream(entry) : null;
    if (stream !== null) return { value: stream };
    const ending = toEnding(entry);
    if (ending !== null) return ending;
  }
  return null;
}

async function* entriesOf(instance: WorkflowInstance): AsyncGenerator<HistoryItem> {
  const { run } = await instance.history({ limit: 1 });
  let cursor: string | null | undefined;
  do {
    const page = await instance.history({ run, limit: PAGE, ...(cursor ? { cursor } : {}) });
    yield* page.entries;
    cursor = page.cursor;
  } while (cursor !== null);
}

function toEnding({ kind, output, error, dueAt, event }: HistoryItem): FoundEnding | null {
  if (kind === "completed") return { value: output };
  if (kind === "received") return { value: event?.payload };
  if (kind === "timedOut") return { error: namedError("EventTimeoutError", "No event came in time.") };
  if (kind !== "failed" || dueAt !== undefined) return null;
  return { error: namedError(error?.name ?? "Error", error?.message ?? "") };
}

/** The form of a stream in a history. */
function isStream(output: unknown): boolean {
  return typeof output === "object" && output !== null && "stream" in output;
}

function namedError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
