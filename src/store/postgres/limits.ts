/**
 * A connection that was cut without a word looks open for hours. Our statements take milliseconds; who waits longer than this
 * has time left to ask again on another connection, before a caller loses patience or a lease ends.
 */
export const ANSWER_TIMEOUT_MS = 10_000;
/** For statements that read whole tables. */
export const SLOW_ANSWER_TIMEOUT_MS = 300_000;

/** Milliseconds after which PostgreSQL itself ends what we asked of it, whether or not it can still reach us. */
export interface Limits {
  /** Of waiting for a lock. */
  readonly lock: number;
  readonly statement: number;
  /** Of waiting for our next statement in a transaction. */
  readonly idle: number;
}

/**
 * A query that sets limits for the transaction that it is part of. Nothing of them is left afterwards, so a pooler may give the
 * server's connection to another client. Shorter limits of the role or the database stay as they are. It gives no rows.
 */
export function setLimits({ lock, statement, idle }: Limits): string {
  const settings = [
    setLimit("lock_timeout", lock),
    setLimit("statement_timeout", statement),
    setLimit("idle_in_transaction_session_timeout", idle),
  ];
  return `select from (select ${settings.join(" || ")} as set offset 0) as limits where limits.set is null`;
}

function setLimit(name: string, milliseconds: number): string {
  const current = `current_setting('${name}')`;
  const shorter = `${current}::interval between interval '1 ms' and interval '${milliseconds} ms'`;
  return `set_config('${name}', case when ${shorter} then ${current} else '${milliseconds}' end, true)`;
}
