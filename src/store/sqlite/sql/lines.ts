import { LineKind } from "../../lines/line-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { CLAIMED_COLUMNS } from "./instances-claim.ts";

/** Lines of one namespace that somebody should look at, those first that have waited longest. Index: perdure_line_due. */
export const FIND_LINES = `
select kind, key, namespace, name, available_at from perdure_line
where namespace = ? and available_at <= ? and name in (select value from json_each(?))
order by available_at
limit ?`;

/** When to look at a line of one namespace. Index: perdure_line_due gives the first entry. */
export const NEXT_LINE = `
select available_at from perdure_line
where namespace = ? and available_at is not null and name in (select value from json_each(?))
order by available_at
limit 1`;

/** Somebody should look at a line at this time, unless it is blocked. Index: the primary key. */
export const JOIN_LINE = `
insert into perdure_line (kind, key, namespace, name, available_at) values (?, ?, ?, ?, ?)
on conflict (kind, key) do update set available_at = min(coalesce(available_at, excluded.available_at), excluded.available_at)
where not blocked`;

/** When to look at a line again. Index: the primary key. */
export const SETTLE_LINE = `update perdure_line set blocked = ?, available_at = ? where kind = ? and key = ?`;

/** A line that nobody is in, and of which nobody holds a slot. Index: the primary key, then perdure_instance_slots. */
export const DROP_LINE = `
delete from perdure_line
where kind = ?1 and key = ?2
  and not (kind = ${LineKind.slots} and exists (select 1 from perdure_instance where slot_key = ?2 and class >= ${WorkClass.leased}))`;

/** Somebody should look at a line now, whatever blocked it. Its row is there while anybody holds a slot. Index: the primary key. */
export const FREE_SLOT = `update perdure_line set blocked = 0, available_at = ? where kind = ${LineKind.slots} and key = ?`;

/** Lines may have other limits than when they were blocked. Index: perdure_line_due is no help: there are as many as keys in use. */
export const OPEN_LINES = `
update perdure_line set blocked = 0, available_at = ?
where namespace in (select value from json_each(?)) and (blocked or available_at is null)`;

export const FIND_ANY_LINE = `
select 1 from perdure_line where namespace in (select value from json_each(?)) limit 1`;

/**
 * How many slots of a key others than this one have taken. A range of one class: of an equality and the condition of the index,
 * SQLite may search by the wider one, and read the whole line. Index: perdure_instance_slots.
 */
export const COUNT_HELD = `select count(*) as held from perdure_instance where slot_key = ? and class >= ${WorkClass.leased} and class <= ${WorkClass.leased} and ref <> ?`;

const IN_LINE = {
  [LineKind.slots]: `slot_key = ? and class >= ${WorkClass.leased}`,
  [LineKind.starts]: `rate_key = ? and slot_key is null and class >= ${WorkClass.lineContinuing}`,
};

/** Those that have begun and are due, in order. Index: perdure_instance_slots. */
export const FIND_CONTINUING = `
select ${CLAIMED_COLUMNS} from perdure_instance
where ${IN_LINE[LineKind.slots]} and class = ${WorkClass.lineContinuing} and available_at <= ?
order by available_at, ref
limit ?`;

/** When the first of those that have begun is due. Index: perdure_instance_slots. */
export const NEXT_IN_LINE = `
select available_at from perdure_instance
where ${IN_LINE[LineKind.slots]} and class = ${WorkClass.lineContinuing} and available_at is not null
order by available_at
limit 1`;

/**
 * Those that may start, in order, without those of rates that are used up, down to some depth.
 * Index: perdure_instance_slots or perdure_instance_starts.
 */
export function findStarts(kind: LineKind): string {
  return `
select ref, rate_key from (
  select ref, rate_key, available_at from perdure_instance
  where ${IN_LINE[kind]} and class = ${WorkClass.lineFresh} and available_at is not null
  order by available_at, ref
  limit ?
)
where rate_key is null or rate_key not in (select value from json_each(?))
order by available_at, ref
limit ?`;
}

/** What a claim tells of one. Index: the primary key. */
export const FIND_CANDIDATE = `select ${CLAIMED_COLUMNS}, rate_key from perdure_instance where ref = ?`;

/** Starts that don't count any more. Index: the primary key. */
export const FORGET_STARTS = `delete from perdure_start where key = ? and at <= ?`;

/** Those that count. Index: the primary key. */
export const COUNT_STARTS = `select count(*) as starts, max(at) as latest from perdure_start where key = ?`;

/** The last but so many. Index: the primary key. */
export const FIND_START = `select at from perdure_start where key = ? order by at desc limit 1 offset ?`;

/** Index: the primary key. */
export const INSERT_START = `insert into perdure_start (key, at, ref, run) values (?, ?, ?, ?)`;
