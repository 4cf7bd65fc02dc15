import { LineKind } from "../../lines/line-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { LOCKING_FUNCTION, NOW_IN_FUNCTION } from "./locking-function.ts";

/**
 * Claims a parked instance again, if a slot of its key is free. Locks the instance first and then the line, as every statement
 * that frees a slot does. Creates a missing line. Returns no row if the instance isn't parked with this token any more.
 * Indexes: instance_pkey, line_pkey, instance_slots.
 */
export function reacquireSlotFunction(schema: SchemaPrefix): string[] {
  return [
    `create function ${schema}reacquire_slot(
  given_now bigint, parked_ref text, parked_run integer, parked_lock text, token text, lease_ms bigint, slot text, slots integer
) returns table (is_full boolean, claimed ${schema}instance, at bigint)
${LOCKING_FUNCTION} as $function$
#variable_conflict use_column
declare
  now_ms bigint;
begin
  insert into ${schema}line as line (kind, key, namespace, name)
  select ${LineKind.slots}, slot, parked.namespace, parked.name
  from (select instance.namespace, instance.name from ${schema}instance as instance where instance.ref = parked_ref for update) as parked
  on conflict (kind, key) do update set blocked = line.blocked;
  now_ms := ${NOW_IN_FUNCTION};
  if slots <= (
    select count(*) from ${schema}instance as instance
    where instance.slot_key = slot and instance.class = ${WorkClass.leased} and instance.ref <> parked_ref
  ) then
    return query select true, null::${schema}instance, now_ms;
    return;
  end if;
  return query
  update ${schema}instance as instance set lock = token, class = ${WorkClass.leased}, available_at = now_ms + lease_ms
  where instance.ref = parked_ref and instance.run = parked_run
    and (instance.lock = parked_lock and instance.class <> ${WorkClass.leased} and instance.outcome is null and not instance.paused
      or instance.lock = token and instance.class = ${WorkClass.leased})
  returning false, instance, now_ms;
end
$function$`,
  ];
}
