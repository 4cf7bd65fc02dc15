import { createdInstances } from "./insert-instances.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * Only from the time that the sender knows, and not before it has come; with the instance that is created then, if there is one. In
 * one statement, so that its lock is never held while we are to say something. `limited`: the instance stands in line.
 * Index: schedule_pkey; of the instance see `insertInstances`.
 */
export function fireSchedule(schema: SchemaPrefix, instance: "none" | "unlimited" | "limited"): Statement {
  const created = createdInstances(schema, instance === "limited", "exists (select from fired)");
  const first = instance === "none" ? 2 : 11;
  const parameter = (index: number) => `$${first + index}`;
  return {
    name: `fire_schedule_${instance}`,
    text: `
with clock as materialized (select ${NOW} as now),
fired as (
  update ${schema}schedule as schedule set
    due_at = ${parameter(6)}::bigint, last_at = ${parameter(7)}::bigint, confirmed_at = clock.now
  from clock
  where schedule.namespace = ${parameter(0)} and schedule.workflow = ${parameter(1)} and schedule.name = ${parameter(2)}
    and schedule.cron = ${parameter(3)} and schedule.timezone = ${parameter(4)}
    and schedule.due_at = ${parameter(5)}::bigint and schedule.due_at <= clock.now
  returning schedule.due_at
)${instance === "none" ? "" : `,\n${created}`}
select exists (select from fired) as fired`,
  };
}
