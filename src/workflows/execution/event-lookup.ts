import type { InstanceName, InstanceRun } from "../../store/instances/instance-records.ts";
import type { DatabaseTime } from "./database-time.ts";
import type { EventFeed } from "./event-feed.ts";
import type { ExecutionHost } from "./execution-host.ts";
import type { OpenWaits } from "./open-waits.ts";

/** Looks for events that were sent to a run while it is in memory, one look at a time. */
export class EventLookup {
  readonly #host: ExecutionHost;
  readonly #time: DatabaseTime;
  readonly #feed: EventFeed;
  readonly #waits: OpenWaits;
  #looking = false;

  constructor(host: ExecutionHost, time: DatabaseTime, feed: EventFeed, waits: OpenWaits) {
    this.#host = host;
    this.#time = time;
    this.#feed = feed;
    this.#waits = waits;
  }

  /** Before a wait ends by its deadline, and before we let go, we must know of everything that was sent. */
  get due(): boolean {
    if (!this.#waits.listening) return false;
    return this.#feed.behind || this.#waits.mustLook(this.#time.now(), this.#feed.lookedAt);
  }

  /** Gives false if the run is gone, and null if a look is under way already. */
  async look({ ref, run }: InstanceRun, instance: InstanceName): Promise<boolean | null> {
    if (this.#looking) return null;
    this.#looking = true;
    const lookedAt = this.#time.now();
    try {
      const loaded = await this.#host.loadEvents({ ref, run, instance, after: this.#feed.events.lastSequence });
      if (loaded !== null) this.#feed.add(loaded, lookedAt);
      return loaded !== null;
    } finally {
      this.#looking = false;
    }
  }
}
