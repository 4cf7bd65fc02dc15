import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * Takes back what we parked, if it still carries the token that we parked it with; or says that we have, if this is sent again.
 * Index: instance_pkey.
 */
export function reacquireInstance(schema: SchemaPrefix): Statement {
  return {
    name: "reacquire_instance",
    planOnce: true,
    text: `
update ${schema}instance as instance set lock = $5, class = 2, available_at = clock.now + $6::bigint
from (select ${NOW} as now) as clock
where instance.ref = $2 and instance.run = $3
  and (instance.lock = $4 and instance.class <> 2 and instance.outcome is null and not instance.paused
    or instance.lock = $5 and instance.class = 2)
returning instance.ref, instance.run, instance.lock, instance.wakes, instance.paused, clock.now as at`,
  };
}
