import type { InstanceOutcome, NewEntry } from "../../store/instances/instance-records.ts";
import type { Bodies } from "./bodies.ts";
import type { DatabaseTime } from "./database-time.ts";
import type { EventFeed } from "./event-feed.ts";
import type { OpenWaits } from "./open-waits.ts";

/** Waits that are over sooner are held in memory, with the lease. */
const HOLD_MS = 5000;

/** How an instance is given back. */
interface GivenBack {
  readonly interruptions: number;
  readonly substantial: boolean;
  /** Whether nothing of it ran, or could have. */
  readonly onlyWaits: boolean;
}

/** Decides what becomes of an instance whose function hasn't ended: it goes on, waits without us, or is given back. */
export class Outcomes {
  readonly #time: DatabaseTime;
  readonly #bodies: Bodies;
  readonly #waits: OpenWaits;
  readonly #feed: EventFeed;

  constructor(time: DatabaseTime, bodies: Bodies, waits: OpenWaits, feed: EventFeed) {
    this.#time = time;
    this.#bodies = bodies;
    this.#waits = waits;
    this.#feed = feed;
  }

  /** `held`: nothing may begin. */
  choose(held: boolean): InstanceOutcome {
    if (this.#bodies.running > 0) return { kind: "running" };
    if (held) return { kind: "released" };
    if (this.#bodies.ready > 0 || this.#waits.size === 0) return { kind: "running" };
    const dueAt = this.#waits.earliest;
    if (dueAt - this.#time.latest() <= HOLD_MS) return { kind: "running" };
    return { kind: "parked", dueAt, wakes: this.#waits.listening ? this.#feed.loadedWakes : this.#feed.knownWakes };
  }

  /**
   * Owners that were lost are counted on, unless something was done since: what is about to be written is `substantial`. What only
   * waits is due when that is over, unless an event that we have for one of its waits was held back: that is due at once.
   */
  giveBack({ interruptions, substantial, onlyWaits }: GivenBack): InstanceOutcome {
    if (interruptions > 0 && !substantial) return { kind: "released" };
    const dueAt = onlyWaits && !this.#waits.hasEvent(this.#feed) ? this.#waits.earliest : this.#time.now();
    return { kind: "parked", dueAt, wakes: this.#feed.loadedWakes };
  }

  /**
   * Deadlines are written when we let go, and with whatever is written anyway: however often the process is lost afterwards, they
   * stay where they are. Those that are far off are written before any body begins beside them, too.
   */
  deadlines({ kind }: InstanceOutcome, { writes }: { writes: boolean }): NewEntry[] {
    if (kind === "parked" || kind === "released") return this.#waits.record(Number.NEGATIVE_INFINITY);
    if (kind !== "running") return [];
    return this.#waits.record(writes ? Number.NEGATIVE_INFINITY : this.#time.latest() + HOLD_MS);
  }
}
