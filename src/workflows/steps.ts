import type { Duration } from "../duration.ts";
import { InvalidInputError, NonRetryableError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { StepType } from "../store/instance-records.ts";
import { timeOfDate } from "../values/index.ts";
import { createChild } from "./create-child.ts";
import type { CreateOptions } from "./create-options.ts";
import type { Execution } from "./execution.ts";
import { InstanceHandle } from "./instance-handle.ts";
import { checkId, checkStepName } from "./names.ts";
import type { WorkflowStep, WorkflowStepConfig } from "./step.ts";
import { BodyCall, EventCall, SleepCall } from "./step-call.ts";
import { DEFAULT_POLICY, parseStepConfig, parseWait, type StepPolicy } from "./step-config.ts";
import type { ReceivedEvent } from "./workflow-event.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

type Body = (ctx: never) => unknown;

const DEFAULT_EVENT_TIMEOUT_MS = 24 * 3_600_000;
const SHORTEST_EVENT_TIMEOUT_MS = 1000;
/** The end of the year 9999: later dates are mistakes, most often microseconds. */
const LATEST_TIME = 253_402_300_799_999;

/** The `step` that a workflow's function is given: it checks what is asked, and tells calls of one name apart. */
export class Steps implements WorkflowStep {
  readonly #runtime: WorkflowRuntime;
  readonly #execution: Execution;
  readonly #counts = new Map<string, number>();
  #steps = 0;

  constructor(runtime: WorkflowRuntime, execution: Execution) {
    this.#runtime = runtime;
    this.#execution = execution;
  }

  async do<Result>(name: string, first: WorkflowStepConfig | Body, second?: Body): Promise<Result> {
    const [config, body] = typeof first === "function" ? [undefined, first] : [first, second];
    checkStepName(name);
    if (typeof body !== "function") {
      throw new InvalidInputError("step.invalid", "step.do takes a name, a config if need be, and a function.");
    }
    return this.#body("do", name, parseStepConfig(config), body) as Promise<Result>;
  }

  async sleep(name: string, duration: Duration): Promise<void> {
    const milliseconds = parseWait(duration, "The duration of a sleep");
    await this.#sleep(checkStepName(name), this.#execution.now() + milliseconds);
  }

  async sleepUntil(name: string, time: Date | number): Promise<void> {
    const milliseconds = timeOfDate(time) ?? time;
    if (typeof milliseconds !== "number" || !(Math.abs(milliseconds) <= LATEST_TIME)) {
      throw new InvalidInputError(
        "step.invalid",
        "sleepUntil takes a Date, or milliseconds since the epoch, before the year 10000.",
      );
    }
    await this.#sleep(checkStepName(name), Math.ceil(milliseconds));
  }

  async waitForEvent<Payload>(
    name: string,
    options: { readonly type: string; readonly timeout?: Duration },
  ): Promise<ReceivedEvent<Payload>> {
    checkStepName(name);
    checkOptions(options, { label: "waitForEvent", fields: ["type", "timeout"], code: "step.invalid" });
    const type = checkId(options.type, "The type of an event");
    const timeoutMs = parseEventTimeout(options.timeout);
    this.#countStep();
    const count = this.#count("waitForEvent", name);
    const { record, nested } = this.#find("waitForEvent", name, count);
    const call = new EventCall(name, count, nested, record, type);
    call.dueAt = record?.dueAt ?? this.#execution.now() + timeoutMs;
    call.recorded = record !== null && record.dueAt !== null;
    return this.#execution.enter(call) as Promise<ReceivedEvent<Payload>>;
  }

  /** The stored value is the child's name: what comes back is a handle of it. */
  async create(workflow: unknown, options?: CreateOptions<unknown>): Promise<never> {
    const { workflows } = this.#runtime;
    const registered = workflows.get(workflow);
    const { ref, run } = this.#execution.lease;
    const { name } = registered;
    const count = this.#nextCount("create", name);
    const parent = `${ref}/${run}/${name}#${count}`;
    const body = () => createChild(this.#runtime, registered, options, { parent, id: `${ref}-${run}-${count}` });
    const id = (await this.#body("create", name, DEFAULT_POLICY, body)) as string;
    return new InstanceHandle(this.#runtime, registered, id) as never;
  }

  #body(type: StepType, name: string, policy: StepPolicy, body: Body): Promise<unknown> {
    this.#countStep();
    const count = this.#count(type, name);
    const { record, nested } = this.#find(type, name, count, policy.aliases);
    return this.#execution.enter(new BodyCall({ type, name, count }, nested, record, policy, body));
  }

  async #sleep(name: string, dueAt: number): Promise<void> {
    const count = this.#count("sleep", name);
    const { record, nested } = this.#find("sleep", name, count);
    const call = new SleepCall("sleep", name, count, nested, record);
    call.dueAt = record?.dueAt ?? dueAt;
    call.recorded = record !== null && record.dueAt !== null;
    await this.#execution.enter(call);
  }

  #find(type: StepType, name: string, count: number, aliases: readonly string[] = []) {
    return { record: this.#execution.find(type, name, count, aliases), nested: this.#execution.busy };
  }

  /** Which call of this type and name it is. */
  #count(type: StepType, name: string): number {
    const count = this.#nextCount(type, name);
    this.#counts.set(`${type}:${name}`, count);
    return count;
  }

  #nextCount(type: StepType, name: string): number {
    return (this.#counts.get(`${type}:${name}`) ?? 0) + 1;
  }

  #countStep(): void {
    const { maxSteps } = this.#runtime.workflows.settings;
    if (++this.#steps <= maxSteps) return;
    throw new NonRetryableError(
      `A run may have ${maxSteps} steps, and this is one more. Raise workflowLimits.steps, or let a child go on.`,
      "TooManyStepsError",
    );
  }
}

function parseEventTimeout(timeout: Duration | undefined): number {
  if (timeout === undefined) return DEFAULT_EVENT_TIMEOUT_MS;
  const milliseconds = parseWait(timeout, "The timeout of a wait");
  if (milliseconds >= SHORTEST_EVENT_TIMEOUT_MS) return milliseconds;
  throw new InvalidInputError("duration.invalid", "The timeout of a wait must be from 1 second to 365 days.");
}
