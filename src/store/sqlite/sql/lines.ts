import { LineKind } from "../../lines/line-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { CLAIMED_COLUMNS } from "./instances-claim.ts";

/** Due lines of one namespace, those that have waited longest first. Index: perdure_line_due. */
export const FIND_LINES = `
select kind, key, namespace, name, available_at from perdure_line
where namespace = ? and available_at <= ? and name in (select value from json_each(?))
order by available_at
limit ?`;

/** When the first line of a namespace is due. Index: perdure_line_due, its first entry. */
export const NEXT_LINE = `
select available_at from perdure_line
where namespace = ? and available_at is not null and name in (select value from json_each(?))
order by available_at
limit 1`;

/** Makes a line due at this time or earlier, unless it is blocked. Creates it if needed. Index: the primary key. */
export const JOIN_LINE = `
insert into perdure_line (kind, key, namespace, name, available_at) values (?, ?, ?, ?, ?)
on conflict (kind, key) do update set available_at = min(coalesce(available_at, excluded.available_at), excluded.available_at)
where not blocked`;

/** When a line is due next, and whether it is blocked until then. Index: the primary key. */
export const SETTLE_LINE = `update perdure_line set blocked = ?, available_at = ? where kind = ? and key = ?`;

/**
 * Deletes a line without members, unless an instance holds one of its slots. Indexes: the primary key, then
 * perdure_instance_slots.
 */
export const DROP_LINE = `
delete from perdure_line
where kind = ?1 and key = ?2
  and not (kind = ${LineKind.slots} and exists (select 1 from perdure_instance where slot_key = ?2 and class >= ${WorkClass.leased}))`;

/** Makes a line of slots due now and unblocks it. Its row exists while any instance holds a slot. Index: the primary key. */
export const FREE_SLOT = `update perdure_line set blocked = 0, available_at = ? where kind = ${LineKind.slots} and key = ?`;

/**
 * Makes all lines due, because their limits may have changed. Reads the whole table, which has one row for each key in use.
 * Index: none.
 */
export const OPEN_LINES = `
update perdure_line set blocked = 0, available_at = ?
where namespace in (select value from json_each(?)) and (blocked or available_at is null)`;

/** Whether there is any line. Reads the table up to the first line of these namespaces. Index: none. */
export const FIND_ANY_LINE = `
select 1 from perdure_line where namespace in (select value from json_each(?)) limit 1`;

/**
 * How many slots of a key other instances hold. The class is written as a range, because with an equality SQLite may search by
 * the condition of the index instead, and read the whole line. Index: perdure_instance_slots.
 */
export const COUNT_HELD = `select count(*) as held from perdure_instance where slot_key = ? and class >= ${WorkClass.leased} and class <= ${WorkClass.leased} and ref <> ?`;

const IN_LINE = {
  [LineKind.slots]: `slot_key = ? and class >= ${WorkClass.leased}`,
  [LineKind.starts]: `rate_key = ? and slot_key is null and class >= ${WorkClass.lineContinuing}`,
};

/** Due members that have begun, in order. Index: perdure_instance_slots. */
export const FIND_CONTINUING = `
select ${CLAIMED_COLUMNS} from perdure_instance
where ${IN_LINE[LineKind.slots]} and class = ${WorkClass.lineContinuing} and available_at <= ? and version in (select value from json_each(?))
order by available_at, ref
limit ?`;

/** When the first member that has begun is due. Index: perdure_instance_slots. */
export const NEXT_IN_LINE = `
select available_at from perdure_instance
where ${IN_LINE[LineKind.slots]} and class = ${WorkClass.lineContinuing} and available_at is not null
order by available_at
limit 1`;

/**
 * Members that may start, in order, without those whose rates are used up. Reads the line only to a certain depth.
 * Index: perdure_instance_slots or perdure_instance_starts.
 */
export function findStarts(kind: LineKind): string {
  return `
select ref, rate_key from (
  select ref, rate_key, available_at from perdure_instance
  where ${IN_LINE[kind]} and class = ${WorkClass.lineFresh} and available_at is not null and version in (select value from json_each(?))
  order by available_at, ref
  limit ?
)
where rate_key is null or rate_key not in (select value from json_each(?))
order by available_at, ref
limit ?`;
}

/** Whether a member is left that hasn't begun. Index: perdure_instance_slots or perdure_instance_starts, its first entry. */
export function findLeft(kind: LineKind): string {
  return `
select 1 from perdure_instance
where ${IN_LINE[kind]} and class = ${WorkClass.lineFresh} and available_at is not null
limit 1`;
}

/** How many members of a class come before a place in line. Index: perdure_instance_slots or perdure_instance_starts. */
export function countAhead(kind: LineKind): string {
  return `
select count(*) as ahead from (
  select 1 from perdure_instance where ${IN_LINE[kind]} and class = ? and (available_at, ref) < (?, ?) limit ?
)`;
}

/** How many hold a slot of a key, up to a number. Index: perdure_instance_slots. */
export const COUNT_SLOTS_HELD = `
select count(*) as held from (
  select 1 from perdure_instance
  where slot_key = ? and class >= ${WorkClass.leased} and class <= ${WorkClass.leased}
  limit ?
)`;

/** When a line is looked at next. Index: the primary key. */
export const READ_LINE = `select available_at from perdure_line where kind = ? and key = ?`;

/** The columns of a claim of one member. Index: the primary key. */
export const FIND_CANDIDATE = `select ${CLAIMED_COLUMNS}, rate_key from perdure_instance where ref = ?`;

/** Deletes starts that no longer count. Index: the primary key. */
export const FORGET_STARTS = `delete from perdure_start where key = ? and at <= ?`;

/** The number of starts that count, and the latest. Index: the primary key. */
export const COUNT_STARTS = `select count(*) as starts, max(at) as latest from perdure_start where key = ?`;

/** The nth latest start. Index: the primary key. */
export const FIND_START = `select at from perdure_start where key = ? order by at desc limit 1 offset ?`;

/** Counts a start. Index: the primary key. */
export const INSERT_START = `insert into perdure_start (key, at, ref, run) values (?, ?, ?, ?)`;

/** A page of the lines of a namespace. Index: the primary key. */
export const LIST_LINES = `
select kind, key, namespace, name, available_at from perdure_line
where kind = ? and key > ? and namespace = ?
order by key
limit ?`;

const MEMBER = "name, id, created_at, started_at";

/** Those that hold a slot of a key. Index: perdure_instance_slots. */
export const LIST_HOLDERS = `
select ${MEMBER} from perdure_instance
where slot_key = ? and class >= ${WorkClass.leased} and class <= ${WorkClass.leased}
order by class, available_at, ref
limit ?`;

/** Members of a class that are due by a time, in order. Index: perdure_instance_slots or perdure_instance_starts. */
export function listWaiting(kind: LineKind): string {
  return `
select ${MEMBER} from perdure_instance
where ${IN_LINE[kind]} and class = ? and available_at <= ?
order by available_at, ref
limit ?`;
}

/** How many these are, up to a number. Index: perdure_instance_slots or perdure_instance_starts. */
export function countWaiting(kind: LineKind): string {
  return `
select count(*) as waiting from (
  select 1 from perdure_instance where ${IN_LINE[kind]} and class = ? and available_at <= ? limit ?
)`;
}
