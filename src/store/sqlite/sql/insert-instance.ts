/** An id that the workflow has is left alone. Indexes: the primary key, perdure_instance_id. */
export const INSERT_INSTANCE = `
insert into perdure_instance (ref, namespace, name, id, params, parent, created_at, class, available_at, lock, started_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing`;

/** One that has traits. */
export const INSERT_SPECIAL_INSTANCE = `
insert into perdure_instance (ref, namespace, name, id, params, parent, created_at, class, available_at, lock, started_at,
  labels, priority, success_retention, error_retention, schedule, slot_key, rate_key)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing`;
