/**
 * A connection that was cut silently looks open for hours. Perdure's statements take milliseconds. After this time the client
 * gives up, which leaves time to ask on another connection before a caller times out or a lease ends.
 */
export const ANSWER_TIMEOUT_MS = 10_000;
/** The same for statements that read whole tables. */
export const SLOW_ANSWER_TIMEOUT_MS = 300_000;

/** Milliseconds after which PostgreSQL itself cancels a statement or transaction, whether or not the client is still there. */
export interface Limits {
  /** For waiting for a lock. */
  readonly lock: number;
  readonly statement: number;
  /** For waiting for the client's next statement in a transaction. */
  readonly idle: number;
}

/**
 * A query that sets limits for the transaction that it is part of. They end with it, so a pooler may give the server connection
 * to another client. Shorter limits of the role or the database stay in force. It returns no rows.
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
