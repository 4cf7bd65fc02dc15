import { isWantedRun } from "./change-instance.ts";
import { deleteLabels } from "./delete-labels.ts";
import { RECORD } from "./instance-record.ts";
import { markDeleted, UNDER_WAY_MS } from "./mark-deleted.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * Gives the key of the slot that it held. What belongs to it is deleted next, and looked for once more later.
 * Indexes: instance_id, label_pkey.
 */
export function deleteInstance(schema: SchemaPrefix): Statement {
  return {
    name: "delete_instance",
    text: `
with clock as materialized (select ${NOW} as now),
gone as (
  delete from ${schema}instance as instance where instance.namespace = $2 and instance.name = $3 and instance.id = $4
    and ${isWantedRun(5)}
  returning instance.*
),
marked as (${markDeleted(schema, UNDER_WAY_MS)}),
unlabelled as (${deleteLabels(schema)})
select ${RECORD}, case when instance.class = 2 then instance.slot_key end as held_slot from gone as instance`,
  };
}
