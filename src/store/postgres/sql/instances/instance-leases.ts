import { WorkClass } from "../../../queue/work-class.ts";
import { takeDue } from "../queue.ts";
import { batch, isInstanceOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";
import { HELD } from "./commit-instances.ts";

/** The columns that a claim returns of an instance. `taken` has columns from before the claim. */
export const CLAIMED_COLUMNS = `instance.namespace, instance.name, instance.id, instance.version, instance.ref, instance.run, instance.lock,
  instance.params::text as params, instance.created_at, instance.recoveries, instance.wakes, instance.paused,
  instance.schedule::text as schedule, instance.trace, instance.slot_key, instance.timeout, instance.deadline, instance.rolling_back,
  instance.started_at,
  taken.previously_started_at is not null or instance.wakes > 0 as begun,
  taken.due_at, clock.now as claimed_at`;

/**
 * Claims due instances. A takeover counts a recovery, starting from 1 again if the journal has grown since the last one;
 * entries with progress don't count as growth. An instance that was released after a recovery has no token, and its recovery
 * was counted before. After a recovery an owner confirms before it begins, and the loss of an owner that hadn't isn't counted.
 * Indexes: instance_due; journal_pkey.
 */
export function claimInstances(schema: SchemaPrefix): Statement {
  const lost = `instance.class = ${WorkClass.leased} and instance.lock is not null and (instance.confirmed or instance.recoveries = 0)`;
  const written = `coalesce((select journal.position from ${schema}journal as journal
      where journal.ref = instance.ref and journal.run = instance.run and journal.kind <> 'progress'
      order by journal.position desc limit 1), 0)`;
  return {
    name: "claim_instances",
    planOnce: true,
    text: `
with ${takeDue(schema, "instance", "work.started_at as previously_started_at")}
update ${schema}instance as instance set
  lock = $7,
  class = ${WorkClass.leased},
  available_at = clock.now + $8::bigint,
  confirmed = false,
  started_at = coalesce(instance.started_at, clock.now),
  error = case when instance.rolling_back is not null then instance.error end,
  recoveries = case when ${lost}
    then case when ${written} > instance.recovered_position then 1 else instance.recoveries + 1 end
    else instance.recoveries end,
  recovered_position = case when ${lost} then ${written} else instance.recovered_position end
from taken, clock
where instance.ctid = taken.ctid
returning ${CLAIMED_COLUMNS}, taken.index`,
  };
}

/** Extends leases, for their owners only. The batch is in the order of refs, in which rows are locked. Index: instance_pkey. */
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

/**
 * Writes that owners begin after a takeover. The batch is in the order of refs, in which rows are locked. Index: instance_pkey.
 */
export function confirmInstances(schema: SchemaPrefix): Statement {
  return {
    name: "confirm_instances",
    text: `
update ${schema}instance as instance set confirmed = true
from ${batch(1, { ref: "text", run: "int", lock: "text" })} as item
where ${isInstanceOf("instance", "item")} and ${HELD}
returning instance.ref, instance.lock`,
  };
}

/**
 * Claims an instance that its last owner parked, if the row still has the token that it was parked with. If it has the new
 * token already, this is the second sending, and the answer is the same. Index: instance_pkey.
 */
export function reacquireInstance(schema: SchemaPrefix): Statement {
  return {
    name: "reacquire_instance",
    planOnce: true,
    text: `
update ${schema}instance as instance set lock = $5, class = ${WorkClass.leased}, available_at = clock.now + $6::bigint
from (select ${NOW} as now) as clock
where instance.ref = $2 and instance.run = $3
  and (instance.lock = $4 and instance.class <> ${WorkClass.leased} and instance.outcome is null and not instance.paused
    or instance.lock = $5 and instance.class = ${WorkClass.leased})
returning instance.ref, instance.run, instance.lock, instance.wakes, instance.paused, clock.now as at`,
  };
}
