import { RECORD } from "./instance-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/** Gives the key of the slot that it held. Index: instance_id. */
export function deleteInstance(schema: SchemaPrefix): Statement {
  return {
    name: "delete_instance",
    text: `
delete from ${schema}instance as instance where instance.namespace = $1 and instance.name = $2 and instance.id = $3
returning ${RECORD}, case when instance.class = 2 then instance.slot_key end as held_slot`,
  };
}
