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
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { Execution } from "./execution.ts";
import { BodyCall, EventCall, SleepCall } from "./step-call.ts";
import { DEFAULT_POLICY, parseStepConfig, parseWait } from "./step-config.ts";
import { pathOf, type StepIdentity } from "./step-path.ts";
import { presentScope, StepScope } from "./step-scope.ts";

type Body = (ctx: never) => unknown;
type RollbackOptions = WorkflowStepRollbackOptions<never, never>;

const DEFAULT_EVENT_TIMEOUT_MS = 24 * 3_600_000;
/** The end of the year 9999: later dates are mistakes, most often microseconds. */
const LATEST_TIME = 253_402_300_799_999;

/** The `step` that a workflow's function is given: it checks its arguments, and tells calls of one name apart. */
export class Steps implements WorkflowStep {
  readonly #runtime: WorkflowRuntime;
  readonly #execution: Execution;
  /** Of the workflow's own function. */
  readonly #scope = new StepScope(null);

  constructor(runtime: WorkflowRuntime, execution: Execution) {
    this.#runtime = runtime;
    this.#execution = execution;
  }

  do<Result>(
    name: string,
    first: WorkflowStepConfig | Body,
    second?: Body | RollbackOptions,
    third?: RollbackOptions,
  ): Promise<Result> {
    try {
      this.#goOn();
      const plain = typeof first === "function";
      const body = plain ? first : second;
      const options = plain ? (second as RollbackOptions) : third;
      return this.#do(name, plain ? undefined : first, body, options) as Promise<Result>;
    } catch (error) {
      return rejected(error);
    }
  }

  sleep(name: string, duration: Duration): Promise<void> {
    try {
      this.#goOn();
      const milliseconds = parseWait(duration, "The duration of a sleep");
      return this.#sleep(name, this.#execution.after(milliseconds), milliseconds);
    } catch (error) {
      return rejected(error);
    }
  }

  sleepUntil(name: string, time: Date | number): Promise<void> {
    try {
      this.#goOn();
      const milliseconds = timeOfDate(time) ?? time;
      if (typeof milliseconds !== "number" || !(Math.abs(milliseconds) <= LATEST_TIME)) {
        throw new InvalidInputError(
          "step.invalid",
          "sleepUntil takes a Date, or milliseconds since the epoch, before the year 10000.",
        );
      }
      const dueAt = Math.ceil(milliseconds);
      return this.#sleep(name, dueAt, Math.max(dueAt - this.#execution.after(0), 0));
    } catch (error) {
      return rejected(error);
    }
  }

  waitForEvent<Payload>(
    name: string,
    options: { readonly type: string; readonly timeout?: Duration },
  ): Promise<ReceivedEvent<Payload>> {
    try {
      this.#goOn();
      return this.#waitForEvent(name, options) as Promise<ReceivedEvent<Payload>>;
    } catch (error) {
      return rejected(error);
    }
  }

  create(workflow: unknown, options?: CreateOptions<unknown>): Promise<never> {
    try {
      this.#goOn();
      return tolerated(this.#create(workflow, options));
    } catch (error) {
      return rejected(error);
    }
  }

  /** The code calls a step, even if it is refused: earlier failures aren't what it throws about from now on. */
  #goOn(): void {
    const { failures } = this.#execution.code;
    if (failures !== undefined) failures.wentOn((presentScope(this.#execution) ?? this.#scope).parent);
  }

  #do(
    name: string,
    config: WorkflowStepConfig | undefined,
    body: unknown,
    options: RollbackOptions | undefined,
  ): Promise<unknown> {
    const { maxStepName } = this.#settings;
    checkStepName(name, maxStepName);
    if (typeof body !== "function") {
      throw new InvalidInputError("step.invalid", "step.do takes a name, a config if need be, and a function.");
    }
    const policy = parseStepConfig(config, maxStepName);
    const rollback = this.#withStreams(parseRollbackOptions(options, maxStepName));
    const step = this.#identify("do", name);
    if (rollback !== null && step.parent !== null) {
      throw new InvalidInputError(
        "step.invalid",
        "A step inside another can't have a rollback: once the outer step is stored, its body isn't called again. Give the outer step the rollback.",
      );
    }
    this.#execution.limits.countStep();
    return this.#execution.enter(new BodyCall(step, policy, body as Body, rollback), policy.aliases);
  }

  #sleep(name: string, dueAt: number, durationMs: number): Promise<void> {
    checkStepName(name, this.#settings.maxStepName);
    const { count } = this.#identifyWait("sleep", name);
    return this.#execution.enter(new SleepCall(name, count, dueAt, durationMs)) as Promise<void>;
  }

  #waitForEvent(name: string, options: { readonly type: string; readonly timeout?: Duration }): Promise<unknown> {
    const { maxStepName, maxEventType, minEventTimeoutMs } = this.#settings;
    checkStepName(name, maxStepName);
    checkOptions(options, { label: "waitForEvent", fields: ["type", "timeout"], code: "step.invalid" });
    const type = checkId(options.type, "The type of an event", maxEventType);
    const timeoutMs = parseEventTimeout(options.timeout, minEventTimeoutMs);
    this.#execution.limits.countStep();
    const { count } = this.#identifyWait("waitForEvent", name);
    return this.#execution.enter(new EventCall(name, count, this.#execution.after(timeoutMs), type));
  }

  /** The stored value is the child's id: the code gets a handle of it. */
  async #create(workflow: unknown, options: CreateOptions<unknown> | undefined): Promise<never> {
    const registered = this.#runtime.workflows.get(workflow);
    const step = this.#identify("create", registered.name);
    const { parent, id: defaultId } = this.#originOf(step);
    this.#execution.limits.countStep();
    const body = async () => {
      const { insert } = await createInstance(this.#runtime, registered, { id: defaultId, ...options }, { parent });
      return insert.id;
    };
    const id = (await this.#execution.enter(new BodyCall(step, DEFAULT_POLICY, body))) as string;
    return new InstanceHandle(this.#runtime, registered, id) as never;
  }

  /** A rollback gets the stream that its step returned as the code does. */
  #withStreams(rollback: StepRollback | null): StepRollback | null {
    if (rollback === null) return null;
    const handler: StepRollback["handler"] = (context) => {
      const output: unknown = context.output;
      if (!(output instanceof StreamReference)) return rollback.handler(context);
      const { ref } = this.#execution.instance;
      const stream = this.#runtime.streams.open(ref, output, (error) => this.#execution.fail(error));
      return rollback.handler({ ...context, output: stream as never });
    };
    return { ...rollback, handler };
  }

  get #settings(): WorkflowSettings {
    return this.#runtime.workflows.settings;
  }

  /** Which call of this type and name it is, where it is made. */
  #identify(type: StepType, name: string): StepIdentity {
    const scope = presentScope(this.#execution) ?? this.#scope;
    if (scope.undoing) throw new NonRetryableError("A rollback can't have steps of its own.", "StepInRollbackError");
    return { type, name, count: scope.count(type, name), parent: scope.parent };
  }

  /**
   * A wait in a body can't be parked: the body would have to run again from its beginning, with all of its effects. It would use up
   * the step's timeout and keep a slot in the worker, so it is refused.
   */
  #identifyWait(type: "sleep" | "waitForEvent", name: string): StepIdentity {
    const outer = presentScope(this.#execution);
    if (outer === null || outer.parentName === null || outer.undoing) return this.#identify(type, name);
    throw new WaitInsideStepError(
      `The ${type === "sleep" ? "sleep" : "wait"} "${name}" is called inside of the step "${outer.parentName}", which can't wait: its timeout would go ` +
        "on, and its worker would be kept busy. Call it in the workflow's own function, between two steps.",
    );
  }

  /** Tells a child that this step creates from all others: a text, and an id for it. */
  #originOf(step: StepIdentity): { parent: string; id: string } {
    const { ref, run } = this.#execution.lease;
    const inside = step.parent === null ? "" : `${hashText(step.parent)}-`;
    return { parent: `${ref}/${run}/${pathOf(step)}`, id: `${ref}-${run}-${inside}${step.count}` };
  }
}

/** A step may fail before the code waits for it, or without: that is no reason to end the process. */
export function tolerated<Result>(step: Promise<Result>): Promise<Result> {
  step.catch(() => {});
  return step;
}

function rejected(error: unknown): Promise<never> {
  return tolerated(Promise.reject(error));
}

export function parseEventTimeout(timeout: Duration | undefined, least: number): number {
  if (timeout === undefined) return DEFAULT_EVENT_TIMEOUT_MS;
  const milliseconds = parseWait(timeout, "The timeout of a wait");
  if (milliseconds >= least) return milliseconds;
  throw new InvalidInputError("duration.invalid", "The timeout of a wait must be from 1 second to 1 year.");
}
