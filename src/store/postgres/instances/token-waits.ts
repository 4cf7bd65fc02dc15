import type { EventInsert, InstanceRun, TokenStep } from "../../instances/instance-records.ts";
import { toNumber } from "../../rows.ts";
import { integerArray, textArray } from "../array-literals.ts";
import type { PostgresClient } from "../connection/driver.ts";
import { findEndedTokens, lockTokenRuns } from "../sql/instances/token-waits.ts";
import { PostgresStatements } from "../statements.ts";

/** An event that a token sends. */
type TokenEvent = EventInsert & { readonly token: TokenStep; readonly only: InstanceRun };

export function hasToken(event: EventInsert): event is TokenEvent {
  return event.token !== undefined && event.only !== undefined;
}

/** The waits that tokens end. */
export class PostgresTokenWaits extends PostgresStatements {
  /**
   * Those of these events whose tokens' waits are over, as a part of the transaction that sends the rest. The instances are
   * locked first, by a statement of its own: a wait that ended meanwhile isn't in the snapshot of a statement that had to wait
   * for the lock.
   */
  async findEnded(events: readonly EventInsert[], client: PostgresClient): Promise<ReadonlySet<EventInsert>> {
    const sent = events.filter(hasToken);
    const refs = textArray(sent.map(({ only }) => only.ref));
    await this.run(lockTokenRuns, [refs], client);
    const columns = [
      refs,
      integerArray(sent.map(({ only }) => only.run)),
      textArray(sent.map(({ eventId }) => eventId)),
      textArray(sent.map(({ token }) => token.name)),
      integerArray(sent.map(({ token }) => token.count)),
    ];
    const { rows } = await this.run(findEndedTokens, [this.now(), ...columns], client);
    return new Set(rows.map((row) => sent[toNumber(row.index) - 1] as EventInsert));
  }
}
