import { RECORD } from "./instance-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/** Index: instance_id. */
export function deleteInstance(schema: SchemaPrefix): Statement {
  return {
    name: "delete_instance",
    text: `
delete from ${schema}instance as instance where instance.namespace = $1 and instance.name = $2 and instance.id = $3
returning ${RECORD}`,
  };
}
