/** Writes nothing if the workflow has an instance with the id. Indexes: the primary key, perdure_instance_id. */
export const INSERT_INSTANCE = `
insert into perdure_instance (ref, namespace, name, id, version, params, parent, created_at, class, available_at, lock, started_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing`;

/** The same for an instance with traits. Indexes: the primary key, perdure_instance_id. */
export const INSERT_SPECIAL_INSTANCE = `
insert into perdure_instance (ref, namespace, name, id, version, params, parent, created_at, class, available_at, lock, started_at,
  labels, priority, success_retention, error_retention, schedule, trace, slot_key, rate_key, timeout, deadline)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing`;

/** One label of a new instance. Index: the primary key. */
export const INSERT_LABEL = `insert into perdure_label (namespace, name, key, value, ref) values (?, ?, ?, ?, ?)`;

/** The instance that has an id. Index: perdure_instance_id. */
export const FIND_CREATED_INSTANCE = `
select ref, parent, created_at from perdure_instance where namespace = ? and name = ? and id = ?`;
