/** An instance as people see it. */
export const RECORD = `instance.namespace, instance.name, instance.id, instance.ref, instance.run, instance.status,
  instance.params::text as params, instance.output::text as output, instance.error::text as error,
  instance.rollback::text as rollback, instance.labels::text as labels,
  instance.priority, instance.schedule::text as schedule, instance.created_at, instance.started_at, instance.finished_at, instance.available_at`;
