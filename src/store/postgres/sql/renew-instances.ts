import { HELD } from "./commit-instances.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, isInstanceOf, NOW } from "./statement.ts";

/** Extends leases for their owners only. The batch is in the order of refs, in which rows are locked. Index: instance_pkey. */
export function renewInstances(schema: SchemaPrefix): Statement {
  return {
    name: "renew_instances",
    planOnce: true,
    text: `
update ${schema}instance as instance set available_at = clock.now + $2::bigint
from (select ${NOW} as now) as clock
cross join ${batch(3, { ref: "text", run: "int", lock: "text" })} as item
where ${isInstanceOf("instance", "item")} and ${HELD}
returning instance.ref, instance.run, instance.lock, instance.wakes, instance.paused, clock.now as at`,
  };
}
