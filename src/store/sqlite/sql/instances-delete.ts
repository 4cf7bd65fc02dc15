import { INSTANCE_RECORD } from "./instances-read.ts";

/** Deletes one instance, whatever its status. Index: perdure_instance_id. */
export const DELETE_INSTANCE = `
delete from perdure_instance where namespace = ? and name = ? and id = ? returning ${INSTANCE_RECORD}`;

/** Deletes one label of a deleted instance. Index: the primary key. */
export const DELETE_LABEL = `
delete from perdure_label where namespace = ? and name = ? and key = ? and value = ? and ref = ?`;

/** Whether there is an instance whose retention is over. Index: perdure_instance_purge. */
export const FIND_PURGE = `select 1 from perdure_instance where namespace = ? and purge_at <= ? limit 1`;

/** Deletes a limited number of instances whose retention is over. Indexes: perdure_instance_purge, the primary key. */
export const PURGE_INSTANCES = `
delete from perdure_instance where ref in (
  select ref from perdure_instance where namespace = ?1 and purge_at <= ?2 order by purge_at limit ?3
)
returning namespace, name, ref, labels`;

/** Notes that an instance's dependents are still to be deleted. Index: the primary key. */
export const MARK_DELETED = "insert into perdure_deleted_instance (ref) values (?) on conflict do nothing";

/** A deleted instance that may still have dependents. Index: the primary key, its first entry. */
export const FIND_DELETED_INSTANCE = "select ref from perdure_deleted_instance where ref > '' order by ref limit 1";

/** The instance has no dependents left. Index: the primary key. */
export const FORGET_DELETED_INSTANCE = "delete from perdure_deleted_instance where ref = ?";

/** Deletes all dependents of an instance. Index: each table's primary key. */
export const DELETE_DEPENDENTS = ["perdure_journal", "perdure_event", "perdure_past_run", "perdure_stream_chunk"].map(
  (table) => `delete from ${table} where ref = ?`,
);

/** Tables of dependents, and the rest of their primary keys after `ref`. */
const DEPENDENTS = {
  perdure_journal: "run, position",
  perdure_event: "run, id",
  perdure_past_run: "run",
  perdure_stream_chunk: "stream, number",
};

/** Deletes a limited number of an instance's dependents in one table. Index: the table's primary key. */
export const SWEEP_DEPENDENTS = Object.entries(DEPENDENTS).map(
  ([table, key]) =>
    `delete from ${table} where ref = ?1 and (${key}) in (select ${key} from ${table} where ref = ?1 limit ?2)`,
);
