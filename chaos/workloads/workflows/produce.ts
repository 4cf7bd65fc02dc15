import { setTimeout as delay } from "node:timers/promises";
import type { Application } from "../../../src/index.ts";
import type { ProducingProcess } from "../../workload.ts";
import { EVENTS, eventOf, KINDS, type KindName, kindOf, type Operation } from "./kinds.ts";
import type { ChaosWorkflows } from "./programs.ts";

export type ChaosWorkflowApplication = Application<Record<never, never>, ChaosWorkflows>;

const LANES = 2;
const LONGEST_PAUSE_MS = 150;
const PAUSE_AFTER_ERROR_MS = 100;
const MOST_TRIES = 5;
const FINISHED = "instance.finished";

const WEIGHTS = Object.fromEntries(Object.entries(KINDS).map(([name, { weight }]) => [name, weight])) as Record<
  KindName,
  number
>;

/** Lanes that create one instance after the other, control them, and record the answers. */
export async function produce(producing: ProducingProcess): Promise<void> {
  await Promise.all(Array.from({ length: LANES }, (_, number) => new Lane(producing, number).run()));
}

class Lane {
  readonly #producing: ProducingProcess;
  readonly #app: ChaosWorkflowApplication;
  readonly #number: number;
  readonly #caring = new Set<Promise<void>>();
  #items = 0;

  constructor(producing: ProducingProcess, number: number) {
    this.#producing = producing;
    this.#app = producing.app as unknown as ChaosWorkflowApplication;
    this.#number = number;
  }

  async run(): Promise<void> {
    const { random, stopping, name, write } = this.#producing;
    while (!stopping()) {
      const sequence = ++this.#items;
      const kind = random.weighted(WEIGHTS);
      const item = `w-${name}-${this.#number}-${sequence}`;
      write("asked", item, { kind });
      const accepted = await this.#create(item, kind);
      if (accepted) this.#care(item, kind);
      await delay(accepted ? random.integer(0, LONGEST_PAUSE_MS) : PAUSE_AFTER_ERROR_MS);
    }
    await Promise.all(this.#caring);
  }

  /** A producer without an answer may create it once more under the same id. */
  async #create(item: string, kind: KindName): Promise<boolean> {
    const { random, write } = this.#producing;
    const create = (onConflict: "error" | "return") =>
      this.#app.workflows.chaos.create({ id: item, params: { kind }, onConflict });
    try {
      if (random.chance(0.3)) {
        await Promise.allSettled([create("error")]);
        await create("return");
      } else await create("error");
      write("accepted", item);
      return true;
    } catch (error) {
      write(isTransient(error) ? "unknown" : "refused", item, describe(error));
      return false;
    }
  }

  #care(item: string, kind: KindName): void {
    const { operation, program } = kindOf(kind);
    const cares = [
      ...(operation === undefined ? [] : [this.#operate(item, operation)]),
      ...(program === "listener" ? [this.#sendEvents(item)] : []),
    ];
    for (const care of cares) {
      this.#caring.add(care);
      void care.then(() => this.#caring.delete(care));
    }
  }

  async #operate(item: string, operation: Operation): Promise<void> {
    const { random } = this.#producing;
    await delay(random.integer(0, 120));
    await this.#attempt(item, operation);
    if (operation !== "pause") return;
    await delay(random.integer(0, 400));
    await this.#attempt(item, "resume");
  }

  /** Sends them one after the other, some twice: each has an id of its own, so it arrives once. */
  async #sendEvents(item: string): Promise<void> {
    const { random } = this.#producing;
    for (const number of EVENTS) {
      await delay(random.integer(0, 120));
      let sent = false;
      for (let tries = 0; tries < MOST_TRIES && !sent; tries++) sent = await this.#attempt(item, "send", number);
      if (!sent) return; // the producer that runs after the faults sends the rest
      if (random.chance(0.3)) await this.#attempt(item, "send", number);
    }
  }

  /** Whether its end is known. */
  async #attempt(item: string, operation: Operation | "resume" | "send", event = 0): Promise<boolean> {
    const { write } = this.#producing;
    try {
      const instance = await this.#app.workflows.chaos.get(item);
      write("operates", item, { operation, event });
      if (operation === "send") await instance.sendEvent(eventOf(event));
      else await instance[operation]();
      write("operated", item, { operation, event, answer: "done" });
      return true;
    } catch (error) {
      const late = (error as { code?: unknown }).code === FINISHED;
      const answer = late ? "too late" : isTransient(error) ? "unknown" : "refused";
      write("operated", item, { operation, event, answer, ...describe(error) });
      if (!late) await delay(PAUSE_AFTER_ERROR_MS);
      return late;
    }
  }
}

function describe(error: unknown): { code: unknown; message: string } {
  return { code: (error as { code?: unknown }).code ?? null, message: String(error) };
}

export function isTransient(error: unknown): boolean {
  return (error as { transient?: unknown }).transient === true;
}
