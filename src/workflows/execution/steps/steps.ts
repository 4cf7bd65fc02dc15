import { makeDetachable } from "../../../detachable.ts";
import type { Duration } from "../../../duration.ts";
import { InvalidInputError } from "../../../errors.ts";
import type { TriggerOptions } from "../../../hooks/trigger.ts";
import type { TriggeredHook } from "../../../hooks/write-triggers.ts";
import { checkId, checkStepName } from "../../../names.ts";
import { checkOptions } from "../../../options.ts";
import type { InstanceName } from "../../../store/instances/instance-records.ts";
import { StreamReference, timeOfDate } from "../../../values/index.ts";
import type {
  TransactionStepConfig,
  WaitOptions,
  WorkflowStep,
  WorkflowStepConfig,
  WorkflowStepRollbackOptions,
} from "../../define/step.ts";
import type { ReceivedEvent } from "../../define/workflow-event.ts";
import type { WorkflowSettings } from "../../define/workflow-settings.ts";
import { bindChild, splitChildOptions } from "../../instances/create/bound-children.ts";
import { createInstance } from "../../instances/create/create.ts";
import type { ChildOptions, CreateOptions } from "../../instances/create/create-options.ts";
import type { ResultOptions, SentEvent, WorkflowInstance } from "../../instances/instance.ts";
import { InstanceHandle } from "../../instances/instance-handle.ts";
import { parseRollbackOptions, type StepRollback } from "../../rollback/rollback-options.ts";
import { noSecret } from "../../tokens/complete-token.ts";
import { type StepToken, writeTarget } from "../../tokens/step-token.ts";
import { type DurableCall, type EventTarget, eventCall, triggerCall } from "../../transactions/durable-calls.ts";
import { parseTransactionConfig, type TransactionPolicy } from "../../transactions/transaction-policy.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import { enterAbandonable } from "../abandonment.ts";
import type { Execution } from "../execution.ts";
import { NEVER, ResultCall } from "./result-call.ts";
import { BodyCall, EventCall, SleepCall } from "./step-call.ts";
import { DEFAULT_POLICY, parseStepConfig, parseWait, type StepPolicy } from "./step-config.ts";
import { StepIdentities } from "./step-identities.ts";
import { presentScope } from "./step-scope.ts";
import { TokenCall } from "./token-call.ts";

type Body = (ctx: never) => unknown;
type TransactionBody = (tx: never, ctx: never) => unknown;
type EventTimeout = WaitOptions & { readonly timeout?: Duration };
type EventOptions = WaitOptions & { readonly type: string; readonly timeout?: Duration };
type RollbackOptions = WorkflowStepRollbackOptions<never, never>;

const DEFAULT_EVENT_TIMEOUT_MS = 24 * 3_600_000;
/** The end of the year 9999: later dates are mistakes, most often microseconds. */
const LATEST_TIME = 253_402_300_799_999;

/** The `step` that a workflow's function is given: it checks its arguments. */
export class Steps implements WorkflowStep {
  readonly #runtime: WorkflowRuntime;
  readonly #execution: Execution;
  readonly #identities: StepIdentities;

  constructor(runtime: WorkflowRuntime, execution: Execution) {
    this.#runtime = runtime;
    this.#execution = execution;
    this.#identities = new StepIdentities(execution);
  }

  do<Result>(
    name: string,
    first: WorkflowStepConfig | Body,
    second?: Body | RollbackOptions,
    third?: RollbackOptions,
  ): Promise<Result> {
    try {
      this.#identities.goOn();
      const plain = typeof first === "function";
      const body = plain ? first : second;
      const options = plain ? (second as RollbackOptions) : third;
      return this.#do(name, plain ? undefined : first, body, options) as Promise<Result>;
    } catch (error) {
      return rejected(error);
    }
  }

  transaction<Result>(
    name: string,
    first: TransactionStepConfig | TransactionBody,
    second?: TransactionBody | RollbackOptions,
    third?: RollbackOptions,
  ): Promise<Result> {
    try {
      this.#identities.goOn();
      const plain = typeof first === "function";
      const body = plain ? first : second;
      const options = plain ? (second as RollbackOptions) : third;
      const parsed = parseTransactionConfig(plain ? undefined : first, this.#settings.maxStepName);
      return this.#enterBody(name, parsed.policy, body, options, parsed.transaction) as Promise<Result>;
    } catch (error) {
      return rejected(error);
    }
  }

  sleep(name: string, duration: Duration, options?: WaitOptions): Promise<void> {
    try {
      this.#identities.goOn();
      const milliseconds = parseWait(duration, "The duration of a sleep");
      return this.#sleep(name, this.#execution.after(milliseconds), milliseconds, options);
    } catch (error) {
      return rejected(error);
    }
  }

  sleepUntil(name: string, time: Date | number, options?: WaitOptions): Promise<void> {
    try {
      this.#identities.goOn();
      const milliseconds = timeOfDate(time) ?? time;
      if (typeof milliseconds !== "number" || !(Math.abs(milliseconds) <= LATEST_TIME)) {
        throw new InvalidInputError(
          "step.invalid",
          "sleepUntil takes a Date, or milliseconds since the epoch, before the year 10000.",
        );
      }
      const dueAt = Math.ceil(milliseconds);
      return this.#sleep(name, dueAt, Math.max(dueAt - this.#execution.after(0), 0), options);
    } catch (error) {
      return rejected(error);
    }
  }

  waitForEvent<Payload>(name: string, options: EventOptions): Promise<ReceivedEvent<Payload>> {
    try {
      this.#identities.goOn();
      return this.#waitForEvent(name, options) as Promise<ReceivedEvent<Payload>>;
    } catch (error) {
      return rejected(error);
    }
  }

  createToken<Payload>(name: string, options: EventTimeout = {}): Promise<StepToken<Payload>> {
    try {
      this.#identities.goOn();
      return tolerated(this.#createToken(name, options)) as Promise<StepToken<Payload>>;
    } catch (error) {
      return rejected(error);
    }
  }

  create(workflow: unknown, options?: CreateOptions<unknown> & ChildOptions): Promise<never> {
    try {
      this.#identities.goOn();
      return tolerated(this.#create(workflow, options));
    } catch (error) {
      return rejected(error);
    }
  }

  result<Output>(child: WorkflowInstance<Output>, options: ResultOptions = {}): Promise<Output> {
    try {
      if (child instanceof InstanceHandle)
        return tolerated(child.resultFor(this, this.#runtime, options)) as Promise<Output>;
      throw new InvalidInputError(
        "step.invalid",
        "step.result takes an instance, such as the one that step.create returns.",
      );
    } catch (error) {
      return rejected(error);
    }
  }

  trigger(hook: unknown, payload?: unknown, options?: TriggerOptions): Promise<TriggeredHook> {
    try {
      this.#identities.goOn();
      return tolerated(this.#callDurably(triggerCall(this.#runtime, hook, payload, options)));
    } catch (error) {
      return rejected(error);
    }
  }

  sendEvent(target: EventTarget, event: SentEvent<string, unknown>): Promise<void> {
    try {
      this.#identities.goOn();
      return tolerated(this.#callDurably(eventCall(this.#runtime, target, event)));
    } catch (error) {
      return rejected(error);
    }
  }

  async #callDurably<Result>({ name, body, written }: DurableCall<Result>): Promise<Result> {
    const transaction: TransactionPolicy = { isolation: undefined, ours: true };
    const result = await this.#enterBody(name, DEFAULT_POLICY, body, undefined, transaction);
    written();
    return result as Result;
  }

  #do(
    name: string,
    config: WorkflowStepConfig | undefined,
    body: unknown,
    options: RollbackOptions | undefined,
  ): Promise<unknown> {
    return this.#enterBody(name, parseStepConfig(config, this.#settings.maxStepName), body, options, null);
  }

  #enterBody(
    name: string,
    policy: StepPolicy,
    body: unknown,
    options: RollbackOptions | undefined,
    transaction: TransactionPolicy | null,
  ): Promise<unknown> {
    const { maxStepName } = this.#settings;
    checkStepName(name, maxStepName);
    if (typeof body !== "function") {
      const method = transaction === null ? "step.do" : "step.transaction";
      throw new InvalidInputError("step.invalid", `${method} takes a name, a config if need be, and a function.`);
    }
    const rollback = this.#withStreams(parseRollbackOptions(options, maxStepName));
    const step = this.#identities.identify("do", name);
    if (rollback !== null && step.parent !== null) {
      throw new InvalidInputError(
        "step.invalid",
        "A step inside another can't have a rollback: once the outer step is stored, its body isn't called again. Give the outer step the rollback.",
      );
    }
    this.#execution.limits.countStep();
    return this.#execution.enter(new BodyCall(step, policy, body as Body, rollback, transaction), policy.aliases);
  }

  #sleep(name: string, dueAt: number, durationMs: number, options: WaitOptions = {}): Promise<void> {
    checkOptions(options, { label: "sleep", fields: ["signal"], code: "step.invalid" });
    checkStepName(name, this.#settings.maxStepName);
    const { count } = this.#identities.identifyWait("sleep", name);
    const call = new SleepCall(name, count, dueAt, durationMs);
    return enterAbandonable(this.#execution, call, options.signal) as Promise<void>;
  }

  #waitForEvent(name: string, options: EventOptions): Promise<unknown> {
    const { maxStepName, maxEventType, minEventTimeoutMs } = this.#settings;
    checkStepName(name, maxStepName);
    checkOptions(options, { label: "waitForEvent", fields: ["type", "timeout", "signal"], code: "step.invalid" });
    const type = checkId(options.type, "The type of an event", maxEventType);
    const timeoutMs = parseEventTimeout(options.timeout, minEventTimeoutMs);
    this.#execution.limits.countStep();
    const { count } = this.#identities.identifyWait("waitForEvent", name);
    const call = new EventCall(name, count, this.#execution.after(timeoutMs), type);
    return enterAbandonable(this.#execution, call, options.signal);
  }

  /** The wait begins with the token, so that its deadline is stored before a step gives the token out. */
  async #createToken(name: string, options: EventTimeout): Promise<StepToken> {
    const { maxStepName, minEventTimeoutMs } = this.#settings;
    checkStepName(name, maxStepName);
    checkOptions(options, { label: "createToken", fields: ["timeout", "signal"], code: "step.invalid" });
    const { tokens } = this.#runtime.workflows;
    if (tokens === null) throw noSecret();
    const timeoutMs = parseEventTimeout(options.timeout, minEventTimeoutMs);
    this.#execution.limits.countStep();
    const { count } = this.#identities.identifyWait("token", name);
    const { name: workflow, id, ref } = this.#execution.instance;
    const { run } = this.#execution.lease;
    const call = new TokenCall(name, count, this.#execution.after(timeoutMs));
    const received = tolerated(enterAbandonable(this.#execution, call, options.signal));
    const sealing = tokens.keys.seal(writeTarget({ name: workflow, id, ref, run, step: { name, count } }));
    const value = await this.#execution.during(sealing);
    const url = tokens.url === null ? null : `${tokens.url}/tokens/${value}`;
    const result = () => tolerated(received.then((event) => (event as ReceivedEvent<unknown>).payload));
    return { value, url, result };
  }

  /** The stored value is the child's id: the code gets a handle of it. */
  async #create(workflow: unknown, options: (CreateOptions<unknown> & ChildOptions) | undefined): Promise<never> {
    const registered = this.#runtime.workflows.get(workflow);
    const { create, ends } = splitChildOptions(options);
    const step = this.#identities.identify("create", registered.name);
    const { parent, id: defaultId } = this.#identities.originOf(step);
    this.#execution.limits.countStep();
    const { instance } = this.#execution;
    const body = async () => {
      const origin = { parent, ...(ends && { endsWith: instance.ref }) };
      const created = await createInstance(this.#runtime, registered, { id: defaultId, ...create }, origin);
      if (ends) await bindChild(this.#runtime, instance, registered, created);
      return created.insert.id;
    };
    const id = (await this.#execution.enter(new BodyCall(step, DEFAULT_POLICY, body))) as string;
    return new InstanceHandle(this.#runtime, registered, id, { caller: this }) as never;
  }

  /** The end of another instance, waited for without a slot. Null inside a step's body, which can't be parked. */
  awaitResult(child: InstanceName, options: ResultOptions): Promise<unknown> | null {
    this.#identities.goOn();
    const outer = presentScope(this.#execution);
    if (outer !== null && outer.parentName !== null) {
      this.#warnOfResult(child, outer.parentName);
      return null;
    }
    const { timeout } = options;
    const dueAt = timeout === undefined ? NEVER : this.#execution.after(parseWait(timeout, "The timeout of a result"));
    const { count } = this.#identities.identify("result", `${child.name}/${child.id}`);
    return enterAbandonable(this.#execution, new ResultCall(child, count, dueAt), options.signal);
  }

  #warnOfResult({ name, id }: InstanceName, step: string): void {
    const { name: workflow, id: instance } = this.#execution.instance;
    this.#runtime.host.warn(
      "A step waits for the result of another instance, and keeps its slot meanwhile. Call `await child.result()` in the " +
        "workflow's own function, outside step.do: that wait needs no slot.",
      { workflow, instance, step, child: `${name}/${id}` },
    );
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
}

makeDetachable(Steps); // as Cloudflare's step, and that of the test kit

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
