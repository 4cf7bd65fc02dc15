import type { Clock, Timer } from "../clock.ts";
import { AttemptAbortedError } from "../errors.ts";
import type { Work } from "./work.ts";

/** The source that renews leases. */
interface LeaseSource<Leased> {
  renew(work: readonly Leased[], leaseMs: number): Promise<Set<Leased>>;
}

interface Held<Leased> {
  readonly source: LeaseSource<Leased>;
  /** By the monotonic clock, counted from before the request was sent: in the database the lease ends later, never earlier. */
  until: number;
  renewing: boolean;
}

/**
 * Renews the leases of running work. Most work ends before a third of its lease has passed and costs nothing here. Work whose
 * lease could not be renewed in time may have another owner, so it is aborted.
 */
export class LeaseKeeper<Leased extends Pick<Work, "abandon"> = Work> {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #held = new Map<Leased, Held<Leased>>();
  #timer: Timer | undefined;

  constructor(clock: Clock, leaseMs: number, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#onError = onError;
  }

  /** `requestedAt` is the monotonic time at which the claim was sent. */
  hold(work: Leased, source: LeaseSource<Leased>, requestedAt: number): void {
    this.#held.set(work, { source, until: requestedAt + this.#leaseMs, renewing: false });
    this.#schedule();
  }

  drop(work: Leased): void {
    if (this.#held.delete(work) && this.#held.size === 0) this.#cancelTimer();
  }

  /** Whether the lease can't have run out yet. */
  isHeld(work: Leased): boolean {
    const held = this.#held.get(work);
    return held !== undefined && this.#clock.monotonic() < held.until;
  }

  #schedule(): void {
    this.#timer ??= this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#renewDue();
      if (this.#held.size > 0) this.#schedule();
    }, this.#leaseMs / 6);
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** A renewal without an answer must not hide that the time is up. */
  #renewDue(): void {
    const now = this.#clock.monotonic();
    const bySource = new Map<LeaseSource<Leased>, Leased[]>();
    for (const [work, held] of this.#held) {
      if (now >= held.until) {
        this.#lose(work);
      } else if (!held.renewing && held.until - now <= (this.#leaseMs * 2) / 3) {
        held.renewing = true;
        const due = bySource.get(held.source);
        if (due === undefined) bySource.set(held.source, [work]);
        else due.push(work);
      }
    }
    for (const [source, work] of bySource) void this.#renew(source, work, now);
  }

  async #renew(source: LeaseSource<Leased>, work: readonly Leased[], requestedAt: number): Promise<void> {
    let ours: Set<Leased> | undefined;
    try {
      ours = await source.renew(work, this.#leaseMs);
    } catch (error) {
      this.#onError(error); // the next round tries again, until the lease is over
    }
    for (const one of work) {
      const held = this.#held.get(one);
      if (held === undefined) continue;
      held.renewing = false;
      if (ours?.has(one)) held.until = requestedAt + this.#leaseMs;
      else if (ours !== undefined) this.#lose(one);
    }
  }

  #lose(work: Leased): void {
    this.drop(work);
    work.abandon(
      new AttemptAbortedError(
        "attempt.lease_lost",
        "The lease could not be renewed in time: another process may run this now.",
      ),
    );
  }
}
