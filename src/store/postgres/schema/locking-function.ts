/**
 * Functions that lock a line run on the server from the lock to the commit, so a client that falls silent can't hold a line.
 * Each of their statements sees everything that was committed before it began, so counts after the lock are exact. They keep
 * one plan for each statement, and return whole rows, so that a later migration can add columns to instances.
 */
export const LOCKING_FUNCTION = "language plpgsql volatile set plan_cache_mode = force_generic_plan";

/** The database's time in milliseconds at this moment, which may be after a wait. `given_now` is null except in tests. */
export const NOW_IN_FUNCTION = "coalesce(given_now, (extract(epoch from clock_timestamp()) * 1000)::bigint)";
