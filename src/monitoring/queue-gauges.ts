import { pause } from "../clock.ts";
import type { Backlog, CountLimits, QueueBacklog } from "../store/queue/backlog.ts";
import type { Store } from "../store/store.ts";

/** What the database says about the work of a namespace, of all processes together. */
export interface QueueGauges {
  /** When it was counted. */
  readonly at: Date;
  readonly hooks: QueueBacklog;
  readonly instances: QueueBacklog;
  /** Hooks that failed for good. */
  readonly deadLetters: number;
  readonly workers: { readonly alive: number; readonly dead: number };
}

/** Each lane is counted up to this, from an index alone; dead letters are rows. */
const LIMITS: CountLimits = { lane: 100_000, deadLetters: 10_000 };
/** An answer is used again for at least this long, */
const KEPT_MS = 5000;
/** and for this many times as long as it took, so that counting takes little of the database's time; */
const KEPT_TIMES = 100;
/** but not longer than this: an alert must notice. */
const LONGEST_KEPT_MS = 60_000;
/** Without an answer for this long, there are no gauges. */
const ANSWER_MS = 5000;

/** Counts the work of one namespace, seldom and once at a time, however many callers ask. */
class GaugeReader {
  readonly #store: Store;
  readonly #namespace: string;
  #last: QueueGauges | null = null;
  /** By the monotonic clock. */
  #keptUntil = Number.NEGATIVE_INFINITY;
  #asked: Promise<QueueGauges | null> | null = null;

  constructor(store: Store, namespace: string) {
    this.#store = store;
    this.#namespace = namespace;
  }

  /** Null if the database doesn't answer. Never rejects. */
  async read(): Promise<QueueGauges | null> {
    const { clock } = this.#store;
    if (clock.monotonic() < this.#keptUntil) return this.#last;
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = null;
    });
    const over = new AbortController();
    const answer = await Promise.race([this.#asked, pause(clock, ANSWER_MS, over.signal).then(() => null)]);
    over.abort();
    return answer;
  }

  async #ask(): Promise<QueueGauges | null> {
    const { clock, engine, workers } = this.#store;
    const askedAt = clock.monotonic();
    try {
      const backlog: Backlog = await engine.backlog.read(this.#namespace, LIMITS);
      const listed = await workers.list(this.#namespace);
      const alive = listed.filter((worker) => worker.alive).length;
      this.#last = { at: new Date(clock.now()), ...backlog, workers: { alive, dead: listed.length - alive } };
    } catch {
      this.#last = null; // that it can't be asked is a metric of its own
    }
    const answeredAt = clock.monotonic();
    // That the database can't be asked may be over soon, however long it took to find out.
    const keptMs = this.#last === null ? KEPT_MS : (answeredAt - askedAt) * KEPT_TIMES;
    this.#keptUntil = answeredAt + Math.min(Math.max(keptMs, KEPT_MS), LONGEST_KEPT_MS);
    return this.#last;
  }
}

const readers = new WeakMap<Store, Map<string, GaugeReader>>();

/** The gauges of a namespace. All callers in a process share one answer, which is some seconds old at most. */
export function readGauges(store: Store, namespace: string): Promise<QueueGauges | null> {
  const ofStore = readers.get(store) ?? new Map<string, GaugeReader>();
  readers.set(store, ofStore);
  const reader = ofStore.get(namespace) ?? new GaugeReader(store, namespace);
  ofStore.set(namespace, reader);
  return reader.read();
}
