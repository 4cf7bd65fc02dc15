import { RECORD, STATUS } from "./instance-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { isInstanceOf, NOW } from "./statement.ts";

export type InstanceChangeKind = "pause" | "resume" | "terminate" | "restart";

const HELD = "instance.class = 2 and instance.lock is not null";

/** Which states allow a change, and what it writes. What was recovered stays in the lane of its kind when it is resumed. */
const CHANGES: Record<InstanceChangeKind, { allowed: string; set: string }> = {
  pause: {
    allowed: "target.outcome is null",
    set: `paused = true, available_at = case when ${HELD} then instance.available_at end`,
  },
  resume: {
    allowed: "target.paused and target.outcome is null",
    set: `paused = false, wakes = instance.wakes + 1,
    class = case when instance.class = 2 then 2 else 0 end,
    available_at = case when ${HELD} then instance.available_at else clock.now end`,
  },
  terminate: {
    allowed: "target.outcome is null",
    set: `outcome = 'terminated', lock = null, class = 0, available_at = null, finished_at = clock.now, paused = false,
    wakes = instance.wakes + 1`,
  },
  restart: {
    allowed: "true",
    set: `run = instance.run + 1, outcome = null, output = null, error = null, started_at = null, finished_at = null, paused = false,
    recoveries = 0, recovered_position = 0, lock = null, class = 1, available_at = clock.now, wakes = instance.wakes + 1`,
  },
};

/**
 * What people do to one instance, if its state allows it: its state at this moment, so the row is locked first. Gives the
 * instance, and whether it was changed. Index: instance_id, then instance_pkey.
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
${kind === "restart" ? keepPastRun(schema) : ""}changed as (
  update ${schema}instance as instance set
    ${set}
  from target cross join clock
  where ${isInstanceOf("instance", "target")} and ${allowed}
  returning instance.*
)
select ${RECORD}, true as changed from changed as instance
union all
select ${RECORD}, false from target as instance where not exists (select from changed)`,
  };
}

function keepPastRun(schema: SchemaPrefix): string {
  return `past as (
  insert into ${schema}past_run (ref, run, status, output, error, started_at, finished_at)
  select instance.ref, instance.run, ${STATUS}, instance.output, instance.error, instance.started_at, instance.finished_at
  from target as instance
),
`;
}
