import { WorkClass } from "../../queue/work-class.ts";

/** The next key after one, of hooks that are leased or stand in line. Index: perdure_hook_line. */
export const NEXT_HOOK_KEY = `
select line_key from perdure_hook
where namespace = ? and line_key > ? and line_key is not null and available_at is not null and class >= ${WorkClass.leased}
order by line_key
limit 1`;

/** How many hooks of a key hold a slot. The class is a range, as in `COUNT_HELD`. Index: perdure_hook_line. */
export const COUNT_HELD_HOOKS = `
select count(*) as held from perdure_hook
where namespace = ? and line_key = ? and available_at is not null and class >= ${WorkClass.leased} and class <= ${WorkClass.leased}`;

/** How many hooks of a key in a class come before a place in line, up to a number. Index: perdure_hook_line. */
export const COUNT_HOOKS_AHEAD = `
select count(*) as ahead from (
  select 1 from perdure_hook
  where namespace = ? and line_key = ? and class = ? and class >= ${WorkClass.leased} and available_at is not null
    and (available_at, id) < (?, ?)
  limit ?
)`;

/** The due hooks of a key in one class, in order, without those whose rates are used up. Index: perdure_hook_line. */
export const FIND_HOOKS_IN_LINE = `
select namespace, id, lock, confirmed, in_doubt, name, key, own_id, attempts, recoveries, triggers, payload, retries, trace, created_at,
  last_attempt_at as previous_attempt_at, available_at as due_at, line_key, rate_key
from perdure_hook
where namespace = ? and line_key = ? and class = ? and class >= ${WorkClass.leased} and available_at <= ?
  and name in (select value from json_each(?)) and (rate_key is null or rate_key not in (select value from json_each(?)))
order by available_at, id
limit ?`;

/** Deletes some starts of hooks that count no more. Reads those of hooks only. Index: the primary key. */
export const FORGET_HOOK_STARTS = `
delete from perdure_start where (key, at, ref, run) in (
  select key, at, ref, run from perdure_start where key >= ? and key < ? and at <= ? limit ?
)`;
