import type { ClaimedSubjects, FairShare } from "../store/subjects/subject-records.ts";

/** How many groups one claim looks at. With more of them, it takes several claims to go round. */
const GROUPS_PER_CLAIM = 200;

/**
 * Half of what a claim takes goes round the groups that have something due, the other half to the oldest, whoever's they are. So
 * one group's flood starves neither the other groups nor subjects without one, and a claim costs the same however many there
 * are. Where nobody uses groups, the oldest are all there is.
 */
export class GroupTurns {
  #used = false;
  #after = "";
  /** Odd shares are rounded up and down in turn: with a limit of one, every second claim is for a group. */
  #roundUp = true;

  notice(group: string | null): void {
    if (group !== null && group !== "") this.#used = true;
  }

  share(limit: number): FairShare | null {
    if (!this.#used) return null;
    const half = this.#roundUp ? Math.ceil(limit / 2) : Math.floor(limit / 2);
    this.#roundUp = !this.#roundUp;
    return half === 0 ? null : { limit: half, after: this.#after, groups: GROUPS_PER_CLAIM };
  }

  taken({ subjects, lastGroup }: ClaimedSubjects): void {
    for (const { group } of subjects) this.notice(group);
    if (lastGroup !== null) this.#after = lastGroup;
  }
}
