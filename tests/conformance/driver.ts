import { setTimeout as delay } from "node:timers/promises";
import { waitUntil } from "../support/wait-until.ts";
import type { Answer, Call } from "./answer.ts";
import { FINISHED, type Outcome } from "./outcome.ts";

export type Ask = (call: Call) => Promise<Answer>;

/** Many programs wait at once, and each question takes its time from all of them. */
const PAUSE_MS = 30;

/** Waits until an answer is truthy. */
function until<Result>(description: string, ask: () => Promise<Result>) {
  return waitUntil(description, async () => {
    const answer = await ask();
    if (!answer) await delay(PAUSE_MS);
    return answer;
  });
}

/** Uses a workflow from outside, and never by the clock: it waits for what it sees. */
export class Driver {
  readonly #ask: Ask;
  readonly #program: string;

  constructor(ask: Ask, program: string) {
    this.#ask = ask;
    this.#program = program;
  }

  async create(options: { readonly id?: string; readonly params?: object } = {}): Promise<DrivenInstance> {
    const params = { ...options.params, program: this.#program };
    const id = given(await this.#ask({ operation: "create", parameters: [{ ...options, params }] })) as string;
    return new DrivenInstance(this.#ask, id);
  }

  /** Options for this program. */
  options(id: string): object {
    return { id, params: { program: this.#program } };
  }

  /** An id that no other program has. */
  id(): string {
    return `own-${crypto.randomUUID()}`;
  }

  instance(id: string): DrivenInstance {
    return new DrivenInstance(this.#ask, id);
  }

  /** Asks the workflow; gives its answer, or that it is refused. */
  async asks(operation: string, ...parameters: unknown[]): Promise<unknown> {
    const answer = await this.#ask({ operation, parameters });
    return "value" in answer ? answer.value : "refused";
  }
}

/** One instance. */
export class DrivenInstance {
  readonly id: string;
  readonly #ask: Ask;

  constructor(ask: Ask, id: string) {
    this.#ask = ask;
    this.id = id;
  }

  /** Returns what became of it. */
  async does(operation: string, ...parameters: unknown[]): Promise<"done" | "refused"> {
    const answer = await this.#ask({ operation, id: this.id, parameters });
    return "value" in answer ? "done" : "refused";
  }

  async state(): Promise<Outcome> {
    return given(await this.#ask({ operation: "status", id: this.id })) as Outcome;
  }

  /** What it tells, to its end. */
  async events(options?: object): Promise<readonly Record<string, unknown>[]> {
    const call = { operation: "events", id: this.id, parameters: options === undefined ? [] : [options] };
    return given(await this.#ask(call)) as Record<string, unknown>[];
  }

  async notes(): Promise<readonly string[]> {
    return given(await this.#ask({ operation: "notes", id: this.id })) as string[];
  }

  async open(gate: string): Promise<void> {
    given(await this.#ask({ operation: "open", id: this.id, parameters: [gate] }));
  }

  /** Waits until its code has told this so many times. */
  async noted(text: string, times: number = 1): Promise<void> {
    await until(`"${text}" was told ${times} times`, async () => {
      return (await this.notes()).filter((note) => note === text).length >= times;
    });
  }

  /** Waits until so many of its steps are stored: what its code tells, it tells before. */
  async stepped(count: number): Promise<void> {
    await until(`${count} steps have ended`, async () => (await this.state()).steps.length >= count);
  }

  /** Waits until it has one of these statuses. */
  async is(...statuses: string[]): Promise<void> {
    await until(`it is ${statuses.join(" or ")}`, async () => statuses.includes((await this.state()).status));
  }

  /** Waits for its end. */
  async ended(): Promise<Outcome> {
    return until("it has ended", async () => {
      const state = await this.state();
      return FINISHED.includes(state.status) && state;
    });
  }
}

function given(answer: Answer): unknown {
  if ("value" in answer) return answer.value;
  throw new Error(`${answer.refused.name}: ${answer.refused.message}`);
}
