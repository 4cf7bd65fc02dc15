import type { ClaimedInstance, InstanceLease } from "../../store/instances/instance-records.ts";
import { PauseFlag } from "./pause-flag.ts";

/** An execution's hold on its instance: the lease, and whether something may begin under it. */
export class Possession {
  lease: InstanceLease;
  /** Whether the lease can't be over yet. When it may be, nothing begins: whoever keeps it is about to abandon us. */
  isHeld: () => boolean = () => true;
  readonly pause = new PauseFlag();
  /** Whether the process is about to end. */
  stopping = false;
  /** Owners that were lost since the last entry. */
  interruptions: number;

  constructor({ ref, run, lock, recoveries }: ClaimedInstance) {
    this.lease = { ref, run, lock };
    this.interruptions = recoveries;
  }

  /** Whether it is to come to rest: nothing begins or comes due any more, and what runs ends. */
  get resting(): boolean {
    return this.pause.paused || this.stopping;
  }

  get mayBegin(): boolean {
    return !this.resting && this.isHeld();
  }
}
