import { setTimeout as delay } from "node:timers/promises";
import type { SeededRandomness } from "../simulation/random.ts";
import { ChaosProcess } from "./chaos-process.ts";
import { ledgerPath } from "./ledger.ts";
import type { ChaosEngine } from "./settings.ts";
import type { Problem } from "./workload.ts";

export interface FleetOptions {
  readonly engine: ChaosEngine;
  /** Each process uses one of them, in turn. */
  readonly databases: readonly string[];
  /** Where ledgers go. */
  readonly directory: string;
  readonly random: SeededRandomness;
  /** By how much the clock of a new process is wrong. */
  readonly clockShift: () => number;
}

interface Slot {
  readonly number: number;
  readonly works: boolean;
  readonly produces: boolean;
  process: ChaosProcess | undefined;
  closed: boolean;
}

const SLOTS: readonly Pick<Slot, "works" | "produces">[] = [
  { works: true, produces: false },
  { works: true, produces: false },
  { works: true, produces: true },
  { works: false, produces: true },
  { works: false, produces: true },
];
/** After this many failures, more of them show nothing new. */
const MOST_FAILURES = 5;
const LOOK_MS = 50;
const STOP_PATIENCE_MS = 60_000;

/** The processes, each replaced by another as soon as it ends. */
export class Fleet {
  readonly problems: Problem[] = [];
  readonly #options: FleetOptions;
  readonly #slots: readonly Slot[];
  #started = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#slots = SLOTS.map((roles, number) => ({ number, ...roles, process: undefined, closed: false }));
  }

  /** How many processes were started. */
  get started(): number {
    return this.#started;
  }

  /** Whether all are at work. */
  get ready(): boolean {
    return this.#slots.every(({ process }) => process?.ready);
  }

  start(): void {
    for (const slot of this.#slots) this.#fill(slot);
  }

  /** All running processes that a fault could hit. */
  candidates(role?: "works" | "produces"): ChaosProcess[] {
    return this.#processes.filter(
      ({ ready, running, frozen, askedToStop, settings }) =>
        ready && running && !frozen && !askedToStop && (role === undefined || settings[role]),
    );
  }

  /** Resumes all suspended processes, and cancels all crashes that were set for a point. */
  calm(): void {
    for (const one of this.#processes) {
      one.send({ do: "disarm" });
      one.signal("SIGCONT");
      one.frozen = false;
    }
  }

  /** Waits until no process creates work any more. Processes that only create work have ended then. */
  async stopProducing(): Promise<void> {
    for (const slot of this.#slots) if (!slot.works) slot.closed = true;
    const left = () => this.#processes.filter((one) => one.running && one.settings.produces && !one.stoppedProducing);
    const giveUpAt = Date.now() + STOP_PATIENCE_MS;
    for (let waiting = left(); waiting.length > 0; waiting = left()) {
      if (Date.now() > giveUpAt) return this.#reportUnanswered(waiting);
      this.calm(); // some may have reached an armed point meanwhile
      for (const one of waiting) one.send({ do: "stop producing" });
      await delay(LOOK_MS);
    }
    await this.#stop(this.#slots.filter(({ works }) => !works));
  }

  /** Shuts all of them down in good order. */
  async stop(): Promise<void> {
    for (const slot of this.#slots) slot.closed = true;
    await this.#stop(this.#slots);
  }

  /** Kills all of them. */
  killAll(): void {
    for (const slot of this.#slots) slot.closed = true;
    for (const one of this.#processes) one.signal("SIGKILL");
  }

  get #processes(): ChaosProcess[] {
    return this.#slots.flatMap(({ process }) => process ?? []);
  }

  #fill(slot: Slot): void {
    const { engine, databases, directory, random, clockShift } = this.#options;
    const name = `p${++this.#started}`;
    const { works, produces } = slot;
    const started = new ChaosProcess({
      name,
      engine,
      database: databases[slot.number % databases.length] as string,
      ledger: ledgerPath(directory, name),
      seed: random.integer(0, 2 ** 31),
      works,
      produces: produces && !this.#slots.some((other) => other.closed), // after the load, processes only run work
      clockShiftMs: clockShift(),
    });
    slot.process = started;
    void started.ended.then(({ code, signal }) => {
      const fine = signal === "SIGKILL" || (started.askedToStop && (code === 0 || signal === "SIGTERM"));
      if (!fine) {
        const details = `${name} ended by itself (${signal ?? `exit code ${code}`}):\n${started.output}`;
        this.problems.push({ promise: "processes survive faults", details, items: [] });
      }
      if (!slot.closed && this.problems.length < MOST_FAILURES) this.#fill(slot);
    });
  }

  async #stop(slots: readonly Slot[]): Promise<void> {
    const leaving = slots.flatMap(({ process }) => (process?.running ? [process] : []));
    for (const one of leaving) {
      one.askedToStop = true;
      one.signal("SIGTERM");
    }
    const late = new AbortController();
    const patience = delay(STOP_PATIENCE_MS, "late", { signal: late.signal }).catch(() => "late");
    const ended = Promise.all(leaving.map((one) => one.ended));
    if ((await Promise.race([ended, patience])) === "late") {
      for (const one of leaving.filter(({ running }) => running)) {
        const details = `${one.settings.name} didn't end after SIGTERM:\n${one.output}`;
        this.problems.push({ promise: "processes end when they are asked to", details, items: [] });
        one.signal("SIGKILL");
      }
    }
    late.abort();
    await ended;
  }

  #reportUnanswered(waiting: readonly ChaosProcess[]): void {
    for (const one of waiting) {
      const details = `${one.settings.name} waits for an answer long after the faults have stopped:\n${one.output}`;
      this.problems.push({ promise: "every call comes to an end", details, items: [] });
      one.signal("SIGKILL");
    }
  }
}
