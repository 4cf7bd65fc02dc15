import { AttemptAbortedError, InvalidInputError } from "../../errors.ts";

/** The outcome of a mocked attempt: a result or an error. Null if the step's own function is called. */
type MockedAttempt = { readonly value: unknown } | { readonly error: unknown } | null;

export interface MockedEvent {
  readonly type: string;
  readonly payload: unknown;
}

/**
 * The mocks of one step: attempts that fail, in the order in which the test named them, then an error of all attempts, or a
 * result. With neither, the step's own function is called.
 */
interface StepMock {
  readonly failures: { readonly times: number; readonly createError: () => unknown }[];
  createLastError: (() => unknown) | null;
  createResult: (() => unknown) | null;
}

const ALL = Symbol("all");
const ALWAYS = Number.POSITIVE_INFINITY;

/** The changes that a test made to an instance, or to all instances of a workflow. */
export class Modifications implements WorkflowInstanceModifier {
  readonly #sleeps = new Set<string | typeof ALL>();
  readonly #delays = new Set<string | typeof ALL>();
  readonly #mocks = new Map<string, StepMock>();
  readonly #timeouts = new Set<string>();
  readonly #events: MockedEvent[] = [];

  async disableSleeps(steps?: readonly StepTarget[]): Promise<void> {
    add(this.#sleeps, steps);
  }

  async disableRetryDelays(steps?: readonly StepTarget[]): Promise<void> {
    add(this.#delays, steps);
  }

  async mockStepResult(step: StepTarget, value: unknown): Promise<void> {
    const mock = this.#mock(step);
    if (mock.createResult !== null) {
      throw new InvalidInputError("options.invalid", `The step "${step.name}" has a mocked result already.`);
    }
    if (!(value instanceof ReadableStream)) {
      mock.createResult = () => value;
      return;
    }
    // A stream can be read once, and the step may run again after a restart: each run gets a stream of its own.
    const chunks = collect(value);
    mock.createResult = () => streamOf(chunks); // set before anything is awaited: Cloudflare's examples don't await mocks
    await chunks;
  }

  async mockStepError(step: StepTarget, error: Error, times: number = ALWAYS): Promise<void> {
    this.#fail(step, times, () => error);
  }

  async forceStepTimeout(step: StepTarget, times: number = ALWAYS): Promise<void> {
    this.#fail(
      step,
      times,
      () => new AttemptAbortedError("step.timeout", "The step didn't end in time: a test says so."),
    );
  }

  async mockEvent({ type, payload }: { readonly type: string; readonly payload?: unknown }): Promise<void> {
    this.#events.push({ type, payload });
  }

  async forceEventTimeout(step: StepTarget): Promise<void> {
    this.#timeouts.add(keyOf(step));
  }

  skipsSleep(step: StepTarget): boolean {
    return this.#sleeps.has(ALL) || this.#sleeps.has(keyOf(step));
  }

  skipsDelay(step: StepTarget): boolean {
    return this.#delays.has(ALL) || this.#delays.has(keyOf(step));
  }

  timesOut(step: StepTarget): boolean {
    return this.#timeouts.has(keyOf(step));
  }

  attempt(step: StepTarget, attempt: number): MockedAttempt {
    const mock = this.#mocks.get(keyOf(step));
    if (mock === undefined) return null;
    let last = 0;
    for (const { times, createError } of mock.failures) {
      last += times;
      if (attempt <= last) return { error: createError() };
    }
    if (mock.createLastError !== null) return { error: mock.createLastError() };
    return mock.createResult === null ? null : { value: mock.createResult() };
  }

  /** The event for the nth wait for this type, counted from 0. */
  event(type: string, index: number): MockedEvent | null {
    return this.#events.filter((event) => event.type === type)[index] ?? null;
  }

  #fail(step: StepTarget, times: number, createError: () => unknown): void {
    if (times !== ALWAYS && !(Number.isInteger(times) && times >= 1)) {
      throw new InvalidInputError("options.invalid", "times must be a whole number above zero.");
    }
    const mock = this.#mock(step);
    if (times === ALWAYS) mock.createLastError = createError;
    else mock.failures.push({ times, createError });
  }

  #mock(step: StepTarget): StepMock {
    const key = keyOf(step);
    const mock = this.#mocks.get(key) ?? { failures: [], createLastError: null, createResult: null };
    this.#mocks.set(key, mock);
    return mock;
  }
}

async function collect(stream: ReadableStream): Promise<unknown[]> {
  const chunks: unknown[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function streamOf(chunks: Promise<unknown[]>): ReadableStream {
  return new ReadableStream({
    async start(controller) {
      for (const chunk of await chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

function add(targets: Set<string | typeof ALL>, steps: readonly StepTarget[] | undefined): void {
  if (steps === undefined) targets.add(ALL);
  else for (const step of steps) targets.add(keyOf(step));
}

function keyOf(step: StepTarget): string {
  const { name, index = 1 } = step ?? {};
  if (typeof name === "string" && Number.isInteger(index) && index >= 1) return `${name}#${index}`;
  throw new InvalidInputError(
    "options.invalid",
    "A step is named by { name, index }, where index is 1 for the first call of the name.",
  );
}

/** Names a step. `index` is 1 for the first call of the name, which is the default, 2 for the second, and so on. */
export interface StepTarget {
  readonly name: string;
  readonly index?: number;
}

/** Changes how an instance runs in a test, as Cloudflare's modifier does. Steps that have run already keep their results. */
export interface WorkflowInstanceModifier {
  /** Sleeps end at once: all of them, or these. */
  disableSleeps(steps?: readonly StepTarget[]): Promise<void>;
  /** Failed steps are tried again at once: all of them, or these. */
  disableRetryDelays(steps?: readonly StepTarget[]): Promise<void>;
  /**
   * The step's function isn't called: this is its result, after the attempts that are to fail or to time out. A step has one
   * mocked result; another is refused.
   */
  mockStepResult(step: StepTarget, result: unknown): Promise<void>;
  /**
   * So many attempts at the step (default: all, whatever else is mocked) fail with this error. Its function isn't called by
   * them. Failures and timeouts that are asked for one after the other follow each other, and what is mocked or written comes
   * after them.
   */
  mockStepError(step: StepTarget, error: Error, times?: number): Promise<void>;
  /** So many attempts at the step (default: all) time out at once; see `mockStepError`. */
  forceStepTimeout(step: StepTarget, times?: number): Promise<void>;
  /** Sends the event as soon as the instance waits for one of this type. */
  mockEvent(event: { readonly type: string; readonly payload?: unknown }): Promise<void>;
  /** The wait times out at once, whatever was sent. */
  forceEventTimeout(step: StepTarget): Promise<void>;
}
