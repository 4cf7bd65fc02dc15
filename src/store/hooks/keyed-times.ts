interface Dialect {
  /** The statement's name for the row with the key. */
  readonly row: string;
  /** The function that gives the smaller of two numbers. */
  readonly least: string;
}

/** The times of a hook after another trigger of its key, as expressions of an upsert. */
interface KeyedTimes {
  readonly availableAt: string;
  readonly nextAt: string;
  readonly latestAt: string;
}

/**
 * The rule of keys and times, for every engine. A trigger joins those that wait: in a pending hook, or beside a running one. Of
 * those `latest_at` is how far they may be put off; null is not at all, because none of them is debounced.
 *
 * - A trigger without a debounce is due at its time or earlier, and nothing that follows puts it off.
 * - A debounced one decides when the hook is due, also later than before, unless it is older than what is there. No
 *   trigger waits longer than its limit.
 * - If no trigger waits, the new one begins afresh. That is so beside a running hook, and in a hook that waits for its next attempt:
 *   the times of its triggers have passed.
 *
 * No operand of `least` is null, about which engines disagree.
 */
export function keyedTimes({ row, least }: Dialect): KeyedTimes {
  const pending = `${row}.lock is null`;
  const newer = `excluded.triggered_at >= ${row}.triggered_at`;
  const debounced = "excluded.latest_at is not null";
  const begins = `(case when ${pending} then ${row}.attempts > 0 else ${row}.next_at is null end)`;
  const present = `case when ${pending} then ${row}.available_at else coalesce(${row}.next_at, excluded.available_at) end`;
  const latestAt = `case
    when ${begins} then excluded.latest_at
    when ${debounced} then ${least}(coalesce(${row}.latest_at, ${present}), excluded.latest_at)
    when ${row}.latest_at is not null then ${least}(${row}.latest_at, excluded.available_at) end`;
  const time = `case
    when not (${debounced}) then ${least}(${present}, excluded.available_at)
    when ${newer} then ${least}(excluded.available_at, ${latestAt})
    else ${least}(${present}, ${latestAt}) end`;
  return {
    availableAt: `case when ${pending} then ${time} else ${row}.available_at end`,
    nextAt: `case when ${pending} then null else ${time} end`,
    latestAt,
  };
}
