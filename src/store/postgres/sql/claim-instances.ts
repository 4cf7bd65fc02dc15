import { CLAIMED_COLUMNS } from "./claimed-columns.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { takeDue } from "./take-due.ts";

/**
 * Takes what is due. One that is taken over counts a recovery, from the beginning if its journal has grown since the last one
 * (progress isn't something done);
 * one that was given back after a recovery has no lock, and that was counted already. After a recovery an owner begins only when it
 * has written so; one that is lost before that isn't counted. Indexes: instance_due; journal_pkey.
 */
export function claimInstances(schema: SchemaPrefix): Statement {
  const lost = "instance.class = 2 and instance.lock is not null and (instance.confirmed or instance.recoveries = 0)";
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
  class = 2,
  available_at = clock.now + $8::bigint,
  confirmed = false,
  started_at = coalesce(instance.started_at, clock.now),
  recoveries = case when ${lost}
    then case when ${written} > instance.recovered_position then 1 else instance.recoveries + 1 end
    else instance.recoveries end,
  recovered_position = case when ${lost} then ${written} else instance.recovered_position end
from taken, clock
where instance.ctid = taken.ctid
returning ${CLAIMED_COLUMNS}, taken.place`,
  };
}
