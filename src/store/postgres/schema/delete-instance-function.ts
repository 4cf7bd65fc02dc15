import { WorkClass } from "../../queue/work-class.ts";
import { DEPENDENT_TABLES, deleteLabels, markDeleted, UNDER_WAY_MS } from "../sql/instances/instance-deletes.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { freeSlots } from "../sql/tell-lines.ts";
import { LOCKING_FUNCTION, NOW_IN_FUNCTION } from "./locking-function.ts";

/**
 * Deletes an instance that no other waits for, then its dependents, and frees the slot that it held last. Dependents are
 * deleted by statements of their own, which see what was written while the first one waited for the instance, and are looked
 * for once more later. With a ref, only that run of the instance is deleted. Returns the deleted row. Reads by indexes alone,
 * whatever PostgreSQL believes of the size of a table. Indexes: instance_id, label_pkey, deleted_instance_pkey, line_pkey, and
 * the primary keys of dependents.
 */
export function deleteInstanceFunction(schema: SchemaPrefix): string[] {
  const dependents = DEPENDENT_TABLES.map(
    (table) => `  delete from ${schema}${table} as dependent where dependent.ref = deleted.ref;`,
  );
  return [
    `create function ${schema}delete_instance(
  given_now bigint, wanted_namespace text, wanted_name text, wanted_id text, wanted_ref text, wanted_run integer
) returns setof ${schema}instance
${LOCKING_FUNCTION} set enable_seqscan = off as $function$
#variable_conflict use_column
declare
  deleted ${schema}instance;
begin
  delete from ${schema}instance as instance
  where instance.namespace = wanted_namespace and instance.name = wanted_name and instance.id = wanted_id
    and (wanted_ref is null or (instance.ref = wanted_ref and instance.run = wanted_run))
    and instance.waiters is null
  returning instance.* into deleted;
  if not found then
    return;
  end if;
  with clock as materialized (select ${NOW_IN_FUNCTION} as now),
  gone as materialized (select deleted.*),
  unlabelled as (${deleteLabels(schema)})
  ${markDeleted(schema, UNDER_WAY_MS)};
${dependents.join("\n")}
  if deleted.class = ${WorkClass.leased} and deleted.slot_key is not null then
    with clock as materialized (select ${NOW_IN_FUNCTION} as now)
    ${freeSlots(schema, "select deleted.slot_key")};
  end if;
  return next deleted;
end
$function$`,
  ];
}
