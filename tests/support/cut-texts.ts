/**
 * What clients say to PostgreSQL, where tests and chaos cut connections. `tests/store/cut-texts.test.ts` checks that they still
 * say it.
 */

/** The message with which the driver commits a transaction. */
export const COMMIT = "commit\0";

/** The commits of completed steps. */
export const COMMIT_STEPS = ["commit_steps_running", "commit_steps_finishing"] as const;

/** The commits of all else, such as a parked instance. */
export const COMMIT_ANY = "commit_any_any";

/** Fires a schedule and creates its instance. */
export const FIRE_SCHEDULE = 'update "perdure".schedule as schedule set\n    due_at';

/** The first statement on a new connection. */
export const PREPARE_CONNECTION = "set plan_cache_mode";
