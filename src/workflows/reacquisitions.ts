import { isUnanswered, PerdureError } from "../errors.ts";
import {
  type ClaimedInstance,
  type NamedLease,
  type RenewedInstance,
  versionName,
} from "../store/instances/instance-records.ts";
import type { Reservation } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";
import { describeError } from "../values/index.ts";
import type { RegisteredWorkflows } from "./define/registered-workflows.ts";
import type { Execution } from "./execution/execution.ts";

/** How many times, with growing pauses, to try to claim a parked instance again while there is no room. */
const MOST_ATTEMPTS = 10;
const FIRST_PAUSE_MS = 20;

/** The runtime of a namespace. */
interface ReacquisitionHost {
  readonly store: Store;
  readonly workflows: RegisteredWorkflows;
  giveBack(lease: NamedLease): Promise<boolean>;
}

/** A parked execution that has claimed its instance again. */
export interface Reacquired {
  readonly execution: Execution;
  readonly renewed: RenewedInstance;
  /** By the monotonic clock. */
  readonly askedAt: number;
}

/** Claims the instances of parked executions again, whose code went on: it had waited for something that isn't a step. */
export class Reacquisitions {
  readonly #runtime: ReacquisitionHost;
  /** By token, until a worker of this process runs them. */
  readonly #reacquired = new Map<string, Reacquired>();
  readonly #underWay = new WeakSet<Execution>();
  #count = 0;

  constructor(runtime: ReacquisitionHost) {
    this.#runtime = runtime;
  }

  /** The parked execution that claimed its instance again with this token. Given once. */
  take(lock: string): Reacquired | null {
    const reacquired = this.#reacquired.get(lock) ?? null;
    this.#reacquired.delete(lock);
    return reacquired;
  }

  /** Unless it has another owner. */
  async reacquire(execution: Execution): Promise<void> {
    if (this.#underWay.has(execution)) return;
    this.#underWay.add(execution);
    try {
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        const reservation = await this.#awaitRoom(execution.instance);
        if (reservation === null || (await this.#claim(execution, reservation))) break;
        await this.#pause(attempt);
      }
    } catch (error) {
      const failure = error instanceof PerdureError ? error.code : describeError(error).message;
      const message = "A step of a parked instance must wait for the instance's next wake.";
      this.#runtime.store.logger.warn(message, { failure });
    } finally {
      this.#underWay.delete(execution);
    }
  }

  async #awaitRoom({ namespace, name, version }: ClaimedInstance): Promise<Reservation<"instance"> | null> {
    const { work } = this.#runtime.store;
    for (let attempt = 0; attempt < MOST_ATTEMPTS && work.attended; attempt++) {
      const reservation = work.reserve("instance", namespace, versionName(name, version));
      if (reservation !== null) return reservation;
      await this.#pause(attempt);
    }
    return null;
  }

  #pause(attempt: number): Promise<void> {
    return new Promise((resolve) => this.#runtime.store.clock.setTimer(resolve, FIRST_PAUSE_MS * 2 ** attempt));
  }

  /** Returns whether the claim is decided: not while all slots are taken. */
  async #claim(execution: Execution, reservation: Reservation<"instance">): Promise<boolean> {
    const { store } = this.#runtime;
    const lock = `${reservation.lock}.${++this.#count}`; // a new token of the same owner
    const lease = { lock, leaseMs: reservation.leaseMs, slots: this.#slotsOf(execution.instance) };
    const askedAt = store.clock.monotonic();
    let renewed: RenewedInstance | "full" | null;
    try {
      renewed = await store.instances.statements.reacquire(execution.lease, lease);
    } catch (error) {
      const taken = { ...execution.lease, instance: execution.instance, lock };
      reservation.cancel(isUnanswered(error) ? () => this.#runtime.giveBack(taken) : undefined);
      throw error;
    }
    if (renewed === null || renewed === "full") {
      reservation.cancel();
      return renewed === null;
    }
    this.#reacquired.set(lock, { execution, renewed, askedAt });
    reservation.start({ ...execution.instance, ...renewed, recoveries: 0, begun: true, claimedAt: renewed.at });
    return true;
  }

  #slotsOf({ name, slotKey }: ClaimedInstance): { key: string; limit: number } | null {
    const limit = this.#runtime.workflows.limitsOf(name).slots;
    return slotKey === null || limit === null ? null : { key: slotKey, limit };
  }
}
