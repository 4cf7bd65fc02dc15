import type { WorkflowStep, WorkflowStepConfig, WorkflowStepContext } from "../../workflows/define/step.ts";
import { parseEventTimeout, tolerated } from "../../workflows/execution/steps/steps.ts";
import { type MockedEvent, Modifications } from "./modifications.ts";

/** Outside of tests. */
const SHORTEST_WAIT_MS = 1000;

/** A transaction's takes the transaction before the context. */
type Body = (...given: unknown[]) => unknown;
type WaitOptions = { readonly type: string; readonly timeout?: never };

interface Rehearsal {
  /** Those of the instance come before those of all instances of its workflow. */
  modifications(): readonly Modifications[];
  send(event: MockedEvent & { readonly id: string }): Promise<void>;
}

/** The `step` of an instance that a test may have changed something about. */
export function rehearseSteps(step: WorkflowStep, { modifications: find, send }: Rehearsal): WorkflowStep {
  const counts = new Map<string, number>();
  const count = (kind: string, name: string) => {
    const index = (counts.get(`${kind}:${name}`) ?? 0) + 1;
    counts.set(`${kind}:${name}`, index);
    return { name, index };
  };
  const sleep = (name: string, fall: () => Promise<void>) => {
    const target = count("sleep", name);
    return find().some((one) => one.skipsSleep(target)) ? step.sleep(name, 0) : fall();
  };
  const waitForEvent = async (name: string, options: WaitOptions) => {
    const target = count("waitForEvent", name);
    if (find().some((one) => one.timesOut(target))) {
      // No event has this type: one that was sent must not end the wait.
      return step.waitForEvent(name, { ...options, type: "perdure.forced-timeout", timeout: 0 });
    }
    parseEventTimeout(options?.timeout, SHORTEST_WAIT_MS);
    const waiting = step.waitForEvent(name, options);
    const { index } = count("event", String(options?.type));
    const event = findEvent(find(), String(options?.type), index - 1);
    if (event !== null) await Promise.race([waiting, send({ ...event, id: `mock.${index}` })]);
    return waiting;
  };
  const withBody = (method: "do" | "transaction") => {
    const perform = step[method] as (...all: unknown[]) => Promise<unknown>;
    return (name: string, ...parameters: unknown[]) => {
      const target = count("do", name);
      const config = typeof parameters[0] === "function" ? undefined : (parameters.shift() as WorkflowStepConfig);
      const [body, ...rest] = parameters;
      const quick = find().some((one) => one.skipsDelay(target));
      return perform(name, quick ? withoutDelay(config) : (config ?? {}), mockable(body, find), ...rest);
    };
  };
  const rehearsed = {
    do: withBody("do"),
    transaction: withBody("transaction"),
    trigger: (hook: never, payload: never, options: never) => step.trigger(hook, payload, options),
    sendEvent: (target: never, event: never) => step.sendEvent(target, event),
    sleep: (name: string, duration: never, options: never) => sleep(name, () => step.sleep(name, duration, options)),
    sleepUntil: (name: string, time: never, options: never) => sleep(name, () => step.sleepUntil(name, time, options)),
    waitForEvent: (name: string, options: WaitOptions) => tolerated(waitForEvent(name, options)),
    createToken: (name: string, options: never) => step.createToken(name, options),
    result: (child: never, options: never) => step.result(child, options),
    create: (workflow: never, options: never) => step.create(workflow, options),
  };
  return rehearsed as unknown as WorkflowStep;
}

function findEvent(modifications: readonly Modifications[], type: string, index: number): MockedEvent | null {
  for (const one of modifications) {
    const event = one.event(type, index);
    if (event !== null) return event;
  }
  return null;
}

/** A value that isn't a function is left for the step itself to refuse. */
function mockable(body: unknown, find: () => readonly Modifications[]): unknown {
  if (typeof body !== "function") return body;
  return (...given: unknown[]) => {
    const ctx = given.at(-1) as WorkflowStepContext;
    const target = { name: ctx.step.name, index: ctx.step.count };
    for (const one of find()) {
      const mocked = one.attempt(target, ctx.attempt);
      if (mocked === null) continue;
      if ("error" in mocked) throw mocked.error;
      return mocked.value;
    }
    return (body as Body)(...given);
  };
}

function withoutDelay(config: WorkflowStepConfig = {}): WorkflowStepConfig {
  return { ...config, retries: { ...config.retries, delay: 0 } };
}

/** The changes of a test's introspectors, by workflow and instance. They outlive crashes. */
export class Rehearsals {
  readonly #all = new Map<string, Set<Modifications>>();
  readonly #created = new Map<string, Set<Set<string>>>();

  /** Modifications of one instance, or of all instances of a workflow that begin from now on. Returns how to drop them. */
  add(key: string, id: string | null): { readonly modifications: Modifications; drop(): void } {
    const modifications = new Modifications();
    const place = placeOf(key, id);
    const present = this.#all.get(place) ?? new Set();
    present.add(modifications);
    this.#all.set(place, present);
    return { modifications, drop: () => void present.delete(modifications) };
  }

  of(key: string, id: string): Modifications[] {
    return [...(this.#all.get(placeOf(key, id)) ?? []), ...(this.#all.get(placeOf(key, null)) ?? [])];
  }

  /** Collects the ids of instances that run, until it is told to stop. */
  collect(key: string): { readonly ids: ReadonlySet<string>; stop(): void } {
    const ids = new Set<string>();
    const collectors = this.#created.get(key) ?? new Set();
    collectors.add(ids);
    this.#created.set(key, collectors);
    return { ids, stop: () => void collectors.delete(ids) };
  }

  /** An instance is created. */
  created(key: string, id: string): void {
    for (const ids of this.#created.get(key) ?? []) ids.add(id);
  }
}

function placeOf(key: string, id: string | null): string {
  return JSON.stringify([key, id]);
}
