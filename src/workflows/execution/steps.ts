import type { Duration } from "../../duration.ts";
import { InvalidInputError, NonRetryableError, WaitInsideStepError } from "../../errors.ts";
import { hashText } from "../../hash.ts";
import { checkId, checkStepName } from "../../names.ts";
import { checkOptions } from "../../options.ts";
import type { StepType } from "../../store/instances/instance-records.ts";
import { StreamReference, timeOfDate } from "../../values/index.ts";
import type { WorkflowStep, WorkflowStepConfig, WorkflowStepRollbackOptions } from "../define/step.ts";
import type { ReceivedEvent } from "../define/workflow-event.ts";
import type { WorkflowSettings } from "../define/workflow-settings.ts";
import { createInstance } from "../instances/create.ts";
import type { CreateOptions } from "../instances/create-options.ts";
import { InstanceHandle } from "../instances/instance-handle.ts";
import { parseRollbackOptions, type StepRollback } from "../rollback/rollback-options.ts";
import type { StoredStream } from "../streams/stored-stream.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { Execution } from "./execution.ts";
import type { StepRecord } from "./run-journal.ts";
import { BodyCall, EventCall, type OpenWait, SleepCall, type StepCall } from "./step-call.ts";
import { DEFAULT_POLICY, parseStepConfig, parseWait, type StepPolicy } from "./step-config.ts";
import { pathOf, type StepIdentity } from "./step-path.ts";
import { presentScope, StepScope } from "./step-scope.ts";

type Body = (ctx: never) => unknown;
type RollbackOptions = WorkflowStepRollbackOptions<never, never>;

const DEFAULT_EVENT_TIMEOUT_MS = 24 * 3_600_000;
/** The end of the year 9999: later dates are mistakes, most often microseconds. */
const LATEST_TIME = 253_402_300_799_999;

/** The `step` that a workflow's function is given: it checks what is asked, and tells calls of one name apart. */
export class Steps implements WorkflowStep {
  readonly #runtime: WorkflowRuntime;
  readonly #execution: Execution;
  /** Of the workflow's own function. */
  readonly #scope: StepScope;
  #steps = 0;

  constructor(runtime: WorkflowRuntime, execution: Execution) {
    this.#runtime = runtime;
    this.#execution = execution;
    this.#scope = new StepScope(execution.instance, null);
  }

  do<Result>(
    name: string,
    first: WorkflowStepConfig | Body,
    second?: Body | RollbackOptions,
    third?: RollbackOptions,
  ): Promise<Result> {
    this.#goOn();
    return tolerated(this.#do(name, first, second, third));
  }

  sleep(name: string, duration: Duration): Promise<void> {
    this.#goOn();
    return tolerated(this.#sleep(name, duration));
  }

  sleepUntil(name: string, time: Date | number): Promise<void> {
    this.#goOn();
    return tolerated(this.#sleepUntil(name, time));
  }

  waitForEvent<Payload>(
    name: string,
    options: { readonly type: string; readonly timeout?: Duration },
  ): Promise<ReceivedEvent<Payload>> {
    this.#goOn();
    return tolerated(this.#waitForEvent(name, options));
  }

  create(workflow: unknown, options?: CreateOptions<unknown>): Promise<never> {
    this.#goOn();
    return tolerated(this.#create(workflow, options));
  }

  /** The code calls a step, which may be refused: what failed before isn't what it throws about from now on. */
  #goOn(): void {
    const { failures, instance } = this.#execution;
    if (failures.any) failures.wentOn((presentScope(instance) ?? this.#scope).parent);
  }

  async #do<Result>(
    name: string,
    first: WorkflowStepConfig | Body,
    second: Body | RollbackOptions | undefined,
    third: RollbackOptions | undefined,
  ): Promise<Result> {
    const plain = typeof first === "function";
    const [config, body, options] = plain ? [undefined, first, second as RollbackOptions] : [first, second, third];
    this.#checkName(name);
    if (typeof body !== "function") {
      throw new InvalidInputError("step.invalid", "step.do takes a name, a config if need be, and a function.");
    }
    const policy = parseStepConfig(config, this.#settings.maxStepName);
    const rollback = this.#withStreams(parseRollbackOptions(options, this.#settings.maxStepName));
    const step = this.#identify("do", name);
    if (rollback !== null && step.parent !== null) {
      throw new InvalidInputError(
        "step.invalid",
        "A step inside of another can't have a rollback: when the outer one is stored, nobody calls it again. Give that one the rollback.",
      );
    }
    const value = await this.#body(step, { policy, body, rollback });
    return (value instanceof StreamReference ? this.#open(value) : value) as Result;
  }

  async #sleep(name: string, duration: Duration): Promise<void> {
    const milliseconds = parseWait(duration, "The duration of a sleep");
    await this.#wait(this.#checkName(name), this.#execution.after(milliseconds), milliseconds);
  }

  async #sleepUntil(name: string, time: Date | number): Promise<void> {
    const milliseconds = timeOfDate(time) ?? time;
    if (typeof milliseconds !== "number" || !(Math.abs(milliseconds) <= LATEST_TIME)) {
      throw new InvalidInputError(
        "step.invalid",
        "sleepUntil takes a Date, or milliseconds since the epoch, before the year 10000.",
      );
    }
    const dueAt = Math.ceil(milliseconds);
    await this.#wait(this.#checkName(name), dueAt, Math.max(dueAt - this.#execution.after(0), 0));
  }

  async #waitForEvent<Payload>(
    name: string,
    options: { readonly type: string; readonly timeout?: Duration },
  ): Promise<ReceivedEvent<Payload>> {
    this.#checkName(name);
    checkOptions(options, { label: "waitForEvent", fields: ["type", "timeout"], code: "step.invalid" });
    const type = checkId(options.type, "The type of an event", this.#settings.maxEventType);
    const timeoutMs = parseEventTimeout(options.timeout, this.#settings.minEventTimeoutMs);
    this.#countStep();
    return this.#enter(this.#identifyWait("waitForEvent", name), (step, record) => {
      const call = new EventCall(step, record, type);
      call.dueAt = record?.dueAt ?? this.#execution.after(timeoutMs);
      call.recorded = record !== null && record.dueAt !== null;
      return call;
    }) as Promise<ReceivedEvent<Payload>>;
  }

  /** The stored value is the child's name: what comes back is a handle of it. */
  async #create(workflow: unknown, options: CreateOptions<unknown> | undefined): Promise<never> {
    const { workflows } = this.#runtime;
    const registered = workflows.get(workflow);
    const step = this.#identify("create", registered.name);
    const { parent, id: defaultId } = this.#originOf(step);
    const body = async () => {
      const { insert } = await createInstance(this.#runtime, registered, { id: defaultId, ...options }, { parent });
      return insert.id;
    };
    const id = (await this.#body(step, { policy: DEFAULT_POLICY, body })) as string;
    return new InstanceHandle(this.#runtime, registered, id) as never;
  }

  /** A rollback gets the stream that its step gave as the code does. */
  #withStreams(rollback: StepRollback | null): StepRollback | null {
    if (rollback === null) return null;
    const handler: StepRollback["handler"] = (context) => {
      const output: unknown = context.output;
      if (!(output instanceof StreamReference)) return rollback.handler(context);
      return rollback.handler({ ...context, output: this.#open(output) as never });
    };
    return { ...rollback, handler };
  }

  #open(reference: StreamReference): StoredStream {
    const { instance } = this.#execution;
    return this.#runtime.streams.open(instance.ref, reference, (error) => this.#execution.fail(error));
  }

  #body(
    step: StepIdentity,
    details: { readonly policy: StepPolicy; readonly body: Body; readonly rollback?: StepRollback | null },
  ): Promise<unknown> {
    this.#countStep();
    return this.#enter(step, (_, record) => new BodyCall(step, record, details), details.policy.aliases);
  }

  async #wait(name: string, dueAt: number, durationMs: number): Promise<void> {
    await this.#enter(this.#identifyWait("sleep", name), (step, record) => {
      const call = new SleepCall(step, record);
      call.durationMs = durationMs;
      call.dueAt = record?.dueAt ?? dueAt;
      call.recorded = record !== null && record.dueAt !== null;
      return call;
    });
  }

  #enter(
    step: StepIdentity,
    create: (step: StepIdentity, record: StepRecord | null) => StepCall & OpenWait,
    aliases: readonly string[] = [],
  ): Promise<unknown> {
    return this.#execution.enter(step, aliases, (record) => create(step, record));
  }

  get #settings(): WorkflowSettings {
    return this.#runtime.workflows.settings;
  }

  #checkName(name: unknown): string {
    return checkStepName(name, this.#settings.maxStepName);
  }

  /** Which call of this type and name it is, where it is made. */
  #identify(type: StepType, name: string): StepIdentity {
    const scope = presentScope(this.#execution.instance) ?? this.#scope;
    if (scope.undoing) throw new NonRetryableError("A rollback can't have steps of its own.", "StepInRollbackError");
    return { type, name, count: scope.count(type, name), parent: scope.parent };
  }

  /**
   * A wait in a step's function can't be parked: the function would have to run again from its beginning, with all of its effects. It
   * would use up the step's timeout and keep a place in the worker, so it is refused.
   */
  #identifyWait(type: "sleep" | "waitForEvent", name: string): StepIdentity {
    const outer = presentScope(this.#execution.instance);
    if (outer === null || outer.parentName === null || outer.undoing) return this.#identify(type, name);
    throw new WaitInsideStepError(
      `The ${type === "sleep" ? "sleep" : "wait"} "${name}" is called inside of the step "${outer.parentName}", which can't wait: its timeout would go ` +
        "on, and its worker would be kept busy. Call it in the workflow's own function, between two steps.",
    );
  }

  /** What tells a child that this step creates from all others: a text, and an id for it. */
  #originOf(step: StepIdentity): { parent: string; id: string } {
    const { ref, run } = this.#execution.lease;
    const inside = step.parent === null ? "" : `${hashText(step.parent)}-`;
    return { parent: `${ref}/${run}/${pathOf(step)}`, id: `${ref}-${run}-${inside}${step.count}` };
  }

  #countStep(): void {
    const { maxSteps } = this.#settings;
    if (++this.#steps <= maxSteps) return;
    throw new NonRetryableError(
      `A run may have ${maxSteps} steps, and this is one more. Raise workflowLimits.steps, or let a child go on.`,
      "TooManyStepsError",
    );
  }
}

/** A step may fail before the code waits for it, or without: that is no reason to end the process. Who waits gets the error. */
export function tolerated<Result>(step: Promise<Result>): Promise<Result> {
  step.catch(() => {});
  return step;
}

export function parseEventTimeout(timeout: Duration | undefined, least: number): number {
  if (timeout === undefined) return DEFAULT_EVENT_TIMEOUT_MS;
  const milliseconds = parseWait(timeout, "The timeout of a wait");
  if (milliseconds >= least) return milliseconds;
  throw new InvalidInputError("duration.invalid", "The timeout of a wait must be from 1 second to 1 year.");
}
