import { freshClass, freshTime, linePlace } from "./fresh-place.ts";
import { RECORD } from "./instance-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { isInstanceOf, NOW } from "./statement.ts";
import { freeSlots, joinLines } from "./tell-lines.ts";

export type InstanceChangeKind = "pause" | "resume" | "terminate" | "restart";

const HELD = "instance.class = 2 and instance.lock is not null";

/** Which states allow a change, and what it writes. */
const CHANGES: Record<InstanceChangeKind, { allowed: string; set: string }> = {
  pause: {
    allowed: "target.outcome is null",
    set: `paused = true, available_at = case when ${HELD} then instance.available_at end`,
  },
  resume: {
    allowed: "target.paused and target.outcome is null",
    set: `paused = false, wakes = instance.wakes + 1,
    class = case when instance.class in (2, 5, 6) then instance.class else 0 end,
    available_at = case when ${HELD} then instance.available_at when instance.class = 6 then ${linePlace("instance")} else clock.now end`,
  },
  terminate: {
    allowed: "target.outcome is null",
    set: `outcome = 'terminated', lock = null, class = 0, available_at = null, finished_at = clock.now, paused = false,
    purge_at = clock.now + instance.error_retention,
    wakes = instance.wakes + 1`,
  },
  restart: {
    allowed: "($5::text[] is null or target.status = any ($5::text[]))",
    set: `run = instance.run + 1, outcome = null, output = null, error = null, started_at = null, finished_at = null, purge_at = null, paused = false,
    recoveries = 0, recovered_position = 0, lock = null, class = ${freshClass("instance")},
    available_at = ${freshTime("instance")}, wakes = instance.wakes + 1,
    params = coalesce(($6::text)::json, instance.params)`,
  },
};

/**
 * What people do to one instance, if its state allows it: its state at this moment, so the row is locked first. Gives the
 * instance, and whether it was changed. What was recovered stays in the lane of its kind, and what stood in line goes to its end,
 * when it is resumed. A restart may ask for a status ($5), and may bring new params ($6). Indexes: instance_id, then instance_pkey; line_pkey.
 */
export function changeInstance(schema: SchemaPrefix, kind: InstanceChangeKind): Statement {
  const { allowed, set } = CHANGES[kind];
  return {
    name: `${kind}_instance`,
    text: `
with clock as materialized (select ${NOW} as now),
target as materialized (
  select * from ${schema}instance as instance where instance.namespace = $2 and instance.name = $3 and instance.id = $4 for update
),
${kind === "restart" ? keepPastRun(schema, allowed) : ""}changed as (
  update ${schema}instance as instance set
    ${set}
  from target cross join clock
  where ${isInstanceOf("instance", "target")} and ${allowed}
  returning instance.*
)${kind === "pause" ? "" : tellLines(schema)}
select ${RECORD}, true as changed from changed as instance
union all
select ${RECORD}, false from target as instance where not exists (select from changed)`,
  };
}

/** It has let go of its slot, and then its line is to be looked at in any case; or it stands in line now. */
function tellLines(schema: SchemaPrefix): string {
  const freed = `select target.slot_key from target cross join changed
    where target.slot_key is not null and target.class = 2 and changed.class <> 2`;
  return `,
freed as (
  ${freeSlots(schema, freed)}
),
joined as (
  ${joinLines(schema, `(select * from changed where not exists (${freed}))`)}
)`;
}

function keepPastRun(schema: SchemaPrefix, allowed: string): string {
  return `past as (
  insert into ${schema}past_run (ref, run, status, output, error, started_at, finished_at)
  select target.ref, target.run, target.status, target.output, target.error, target.started_at, target.finished_at
  from target where ${allowed}
),
`;
}
