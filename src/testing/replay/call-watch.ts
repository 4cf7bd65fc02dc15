import type { StepType } from "../../store/instances/instance-records.ts";
import type { WorkflowStep, WorkflowStepConfig } from "../../workflows/define/step.ts";
import type { HistoryItem } from "../../workflows/instances/history-page.ts";
import { forever } from "../process-life.ts";

interface Call {
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
}

/** Sees what the code of a workflow calls, and lets no function of a step run. */
export class CallWatch {
  readonly #stored: readonly Call[];
  readonly #counts = new Map<string, number>();
  readonly #reached = new Set<string>();
  readonly #open = new Set<Call>();

  constructor(entries: readonly HistoryItem[]) {
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

  /** `watched` is false for children: nothing of them runs, either. */
  watchSteps(step: WorkflowStep, watched: boolean, nameOf: (workflow: unknown) => string): WorkflowStep {
    if (!watched) return new Proxy(step, { get: () => forever });
    const follow = (type: StepType, name: string, aliases: readonly string[], perform: () => Promise<unknown>) =>
      this.#follow(type, name, aliases, perform);
    const steps = {
      do: (name: string, ...parameters: unknown[]) => {
        const config = typeof parameters[0] === "function" ? {} : ((parameters.shift() ?? {}) as WorkflowStepConfig);
        const perform = step.do as (...all: unknown[]) => Promise<unknown>;
        const [body, ...rest] = parameters;
        const never = typeof body === "function" ? () => forever() : body;
        return follow("do", name, config.aliases ?? [], () => perform(name, config, never, ...rest));
      },
      sleep: (name: string, duration: never) => follow("sleep", name, [], () => step.sleep(name, duration)),
      sleepUntil: (name: string, time: never) => follow("sleep", name, [], () => step.sleepUntil(name, time)),
      waitForEvent: (name: string, options: never) =>
        follow("waitForEvent", name, [], () => step.waitForEvent(name, options)),
      create: (workflow: never, options: never) => {
        const name = nameOf(workflow);
        return follow("create", name, [], () =>
          this.#isStored("create", name) ? step.create(workflow, options) : forever(),
        );
      },
    };
    return steps as unknown as WorkflowStep;
  }

  #follow(type: StepType, name: string, aliases: readonly string[], perform: () => Promise<unknown>): Promise<unknown> {
    const count = (this.#counts.get(`${type}:${name}`) ?? 0) + 1;
    this.#counts.set(`${type}:${name}`, count);
    const call = { type, name, count };
    const known = [name, ...aliases].find((one) =>
      this.#stored.some((stored) => keyOf(stored) === keyOf({ ...call, name: one })),
    );
    if (known !== undefined) this.#reached.add(keyOf({ ...call, name: known }));
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
