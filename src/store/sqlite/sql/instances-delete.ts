import { INSTANCE_RECORD } from "./instances-read.ts";

/** Index: perdure_instance_id. */
export const DELETE_INSTANCE = `
delete from perdure_instance where namespace = ? and name = ? and id = ? returning ${INSTANCE_RECORD}`;

/** Index: the primary key. */
export const DELETE_LABEL = `
delete from perdure_label where namespace = ? and name = ? and key = ? and value = ? and ref = ?`;

/** Whether there is an instance to purge. Index: perdure_instance_purge. */
export const FIND_PURGE = `select 1 from perdure_instance where namespace = ? and purge_at <= ? limit 1`;

/** One bounded batch of instances that were kept for long enough. Index: perdure_instance_purge. */
export const PURGE_INSTANCES = `
delete from perdure_instance where ref in (
  select ref from perdure_instance where namespace = ?1 and purge_at <= ?2 order by purge_at limit ?3
)
returning namespace, name, ref, labels`;

/** Remembers whom it has to be swept up after. Index: the primary key. */
export const MARK_DELETED = "insert into perdure_deleted_instance (ref) values (?) on conflict do nothing";

/** Index: the primary key, in its order. */
export const FIND_DELETED_INSTANCE = "select ref from perdure_deleted_instance order by ref limit 1";

/** Nothing is left of it. Index: the primary key. */
export const FORGET_DELETED_INSTANCE = "delete from perdure_deleted_instance where ref = ?";

/** What an instance leaves behind. Index: each table's primary key. */
export const DELETE_DEPENDENTS = ["perdure_journal", "perdure_event", "perdure_past_run", "perdure_stream_chunk"].map(
  (table) => `delete from ${table} where ref = ?`,
);

/** Tables whose rows belong to instances, by `ref`, and the rest of their primary keys. */
const DEPENDENTS = {
  perdure_journal: "run, position",
  perdure_event: "run, id",
  perdure_past_run: "run",
  perdure_stream_chunk: "stream, number",
};

/** So many rows, at most, of what a deleted instance has left in one table. Index: the table's primary key. */
export const SWEEP_DEPENDENTS = Object.entries(DEPENDENTS).map(
  ([table, key]) =>
    `delete from ${table} where ref = ?1 and (${key}) in (select ${key} from ${table} where ref = ?1 limit ?2)`,
);
