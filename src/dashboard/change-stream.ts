import type { Clock, Timer } from "../clock.ts";
import { PUBLIC_ACCESS } from "../http/access/access.ts";
import { EventStreams, type EventSubscription, type StreamEvent } from "../http/answers/event-stream.ts";
import type { WorkBoard } from "../store/queue/work-board.ts";

/** A process isn't notified of its own writes, so viewers look again after this long in any case. */
const BEAT_MS = 2000;
/** Announcements within this time are one. */
const GATHER_MS = 500;
const MOST_VIEWERS = 500;
/** Then a page reconnects, and is authorized again. */
const LONGEST_MS = 3_600_000;

export interface ChangeStreamParts {
  readonly work: WorkBoard;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Tells the open pages that something may have changed: each reads its screen again. It asks the database nothing, and it does
 * nothing while no page is open.
 */
export class ChangeStream {
  readonly #work: WorkBoard;
  readonly #clock: Clock;
  readonly #streams: EventStreams;
  readonly #viewers = new Set<Viewer>();
  #timer: Timer | undefined;
  #soon = false;
  #unlisten: (() => void) | undefined;

  constructor({ work, clock, onError }: ChangeStreamParts) {
    this.#work = work;
    this.#clock = clock;
    const times = { heartbeatMs: 15_000, recheckMs: LONGEST_MS, maxStreamAgeMs: LONGEST_MS };
    const limits = { maxStreams: MOST_VIEWERS, maxStreamsPerCaller: MOST_VIEWERS, maxUnreadBytes: 1024 * 1024 };
    this.#streams = new EventStreams({ clock, onError, ...limits, ...times });
  }

  answer(request: Request): Promise<Response> {
    return this.#streams.answer(request, PUBLIC_ACCESS, async () => {
      const viewer = new Viewer((gone) => this.#leave(gone));
      this.#viewers.add(viewer);
      this.#unlisten ??= this.#work.listen(() => this.#heard());
      if (this.#timer === undefined) this.#wait(BEAT_MS);
      return viewer;
    });
  }

  #heard(): void {
    if (this.#soon) return;
    this.#soon = true;
    this.#wait(GATHER_MS);
  }

  #wait(milliseconds: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(() => this.#tell(), milliseconds);
  }

  #tell(): void {
    this.#soon = false;
    this.#timer = undefined;
    if (this.#viewers.size === 0) return;
    for (const viewer of this.#viewers) viewer.tell();
    this.#wait(BEAT_MS);
  }

  #leave(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#unlisten?.();
    this.#unlisten = undefined;
  }
}

/** One open page. Changes that it hasn't taken yet are one change. */
class Viewer implements EventSubscription {
  readonly #leave: (viewer: Viewer) => void;
  #changed = false;
  #over = false;
  #number = 0;
  #wake: (() => void) | undefined;

  constructor(leave: (viewer: Viewer) => void) {
    this.#leave = leave;
  }

  tell(): void {
    this.#changed = true;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<StreamEvent, void>> {
    if (!this.#changed && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#over) return { done: true, value: undefined };
    this.#changed = false;
    this.#number += 1;
    return { done: false, value: { id: String(this.#number), type: "change", data: {} } };
  }

  async return(): Promise<void> {
    this.#over = true;
    this.#wake?.();
    this.#leave(this);
  }
}
