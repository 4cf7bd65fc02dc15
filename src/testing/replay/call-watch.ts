import { NotFoundError } from "../../errors.ts";
import type { HookDefinitions } from "../../hooks/define-hook.ts";
import type { StepType } from "../../store/instances/instance-records.ts";
import type { TransactionStepConfig, WorkflowStep } from "../../workflows/define/step.ts";
import { describeStep } from "../../workflows/execution/steps/step-path.ts";
import type { WorkflowInstance } from "../../workflows/instances/instance.ts";
import { type EventTarget, eventStepName, triggerStepName } from "../../workflows/transactions/durable-calls.ts";
import type { HistoryItem } from "../../workflows/views/history-page.ts";
import { forever } from "../process-life.ts";

interface Call {
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
}

/** A call that the history doesn't have, and the stored steps that the code hadn't called by then. */
interface NewCall {
  readonly call: Call;
  readonly skipped: readonly Call[];
}

/** Returns the result of a new step, or null if it has none and doesn't end. */
export type NewResults = (step: string) => { readonly value: unknown } | null;

/** The most new steps that get a result: code that waits for a certain one would call steps forever. */
const MOST_NEW = 1000;

/** Sees what the code of a workflow calls, and lets no function of a step run. */
export class CallWatch {
  readonly #resultOf: NewResults;
  readonly #hooks: HookDefinitions;
  readonly #new: NewCall[] = [];
  readonly #stored: readonly Call[];
  readonly #counts = new Map<string, number>();
  readonly #reached = new Set<string>();
  readonly #open = new Set<Call>();

  constructor(entries: readonly HistoryItem[], resultOf: NewResults, hooks: HookDefinitions) {
    this.#resultOf = resultOf;
    this.#hooks = hooks;
    const outer = entries.filter(({ inside }) => inside === undefined);
    const steps = outer.map(({ type, name, count }) => [keyOf({ type, name, count }), { type, name, count }] as const);
    this.#stored = [...new Map(steps).values()];
  }

  /** Calls that haven't ended, in order. */
  get open(): Call[] {
    return [...this.#open];
  }

  get unreached(): Call[] {
    return this.#stored.filter((call) => !this.#reached.has(keyOf(call)));
  }

  /** New steps in front of stored ones, which the code calls, too: they run once. */
  get inserted(): Call[] {
    return this.#newCalls((skipped) => skipped.length > 0 && skipped.every((call) => this.#reached.has(keyOf(call))));
  }

  /** New steps where the history has others, which the code doesn't call: these may do the same again. */
  get repeated(): Call[] {
    return this.#newCalls((skipped) => skipped.some((call) => !this.#reached.has(keyOf(call))));
  }

  #newCalls(condition: (skipped: readonly Call[]) => boolean): Call[] {
    return this.#new.filter(({ skipped }) => condition(skipped)).map(({ call }) => call);
  }

  /** `watched` is false for children: nothing of them runs, either. */
  watchSteps(step: WorkflowStep, watched: boolean, nameOf: (workflow: unknown) => string): WorkflowStep {
    if (!watched) return new Proxy(step, { get: () => forever });
    const follow = (type: StepType, name: string, aliases: readonly string[], perform: () => Promise<unknown>) =>
      this.#follow(type, name, aliases, perform);
    const perform = step.do as (...all: unknown[]) => Promise<unknown>;
    const withBody = (name: string, ...parameters: unknown[]) => {
      const given = typeof parameters[0] === "function" ? {} : ((parameters.shift() ?? {}) as TransactionStepConfig);
      const { isolation: _, ...config } = given;
      const [body, ...rest] = parameters;
      const never = typeof body === "function" ? () => forever() : body;
      return follow("do", name, config.aliases ?? [], () => perform(name, config, never, ...rest));
    };
    const steps = {
      do: withBody,
      transaction: withBody, // no transaction begins for a function that isn't called
      trigger: (hook: unknown) => withBody(triggerStepName(this.#hookName(hook)), forever),
      sendEvent: ({ workflow }: EventTarget, { type }: { type: string }) =>
        withBody(eventStepName(type, nameOf(workflow)), forever),
      sleep: (name: string, duration: never, options: never) =>
        follow("sleep", name, [], () => step.sleep(name, duration, options)),
      sleepUntil: (name: string, time: never, options: never) =>
        follow("sleep", name, [], () => step.sleepUntil(name, time, options)),
      waitForEvent: (name: string, options: never) =>
        follow("waitForEvent", name, [], () => step.waitForEvent(name, options)),
      create: (workflow: never, options: never) => {
        const name = nameOf(workflow);
        return follow("create", name, [], () =>
          this.#isStored("create", name)
            ? step.create(workflow, options).then((child) => this.#watchChild(child))
            : forever(),
        );
      },
      createToken: (name: string, options: never) => follow("token", name, [], () => step.createToken(name, options)),
      result: (child: WorkflowInstance, options: never) => child.result(options),
    };
    return steps as unknown as WorkflowStep;
  }

  #hookName(hook: unknown): string {
    const name = Object.entries(this.#hooks).find(([, definition]) => definition === hook)?.[0] ?? hook;
    if (typeof name === "string") return name;
    throw new NotFoundError(
      "hook.unknown",
      "The code triggers a hook that has no name here: give replay the hooks, { hooks }.",
    );
  }

  /** Waits for a child are calls, too. */
  #watchChild(child: WorkflowInstance): WorkflowInstance {
    const name = `${child.workflowName}/${child.id}`;
    const result = (options: never) =>
      this.#follow("result", name, [], () => (this.#isStored("result", name) ? child.result(options) : forever()));
    return new Proxy(child, {
      get: (target, property) => {
        const value: unknown = property === "result" ? result : Reflect.get(target, property, target);
        return typeof value === "function" ? (value as () => unknown).bind(target) : value;
      },
    });
  }

  #follow(type: StepType, name: string, aliases: readonly string[], perform: () => Promise<unknown>): Promise<unknown> {
    const count = (this.#counts.get(`${type}:${name}`) ?? 0) + 1;
    this.#counts.set(`${type}:${name}`, count);
    const call = { type, name, count };
    const known = [name, ...aliases].find((one) =>
      this.#stored.some((stored) => keyOf(stored) === keyOf({ ...call, name: one })),
    );
    if (known !== undefined) this.#reached.add(keyOf({ ...call, name: known }));
    else {
      this.#new.push({ call, skipped: this.unreached });
      const result = this.#new.length > MOST_NEW ? null : this.#resultOf(describeStep(call));
      if (result !== null) return Promise.resolve(result.value);
    }
    this.#open.add(call);
    const ended = () => void this.#open.delete(call);
    const promise = perform();
    promise.then(ended, ended);
    return promise;
  }

  /** Of the call that is being made. */
  #isStored(type: StepType, name: string): boolean {
    const count = this.#counts.get(`${type}:${name}`) ?? 0;
    return this.#stored.some((stored) => keyOf(stored) === keyOf({ type, name, count }));
  }
}

function keyOf({ type, name, count }: Call): string {
  return `${type}:${name}#${count}`;
}
