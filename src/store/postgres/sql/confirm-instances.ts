import { HELD } from "./commit-instances.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, isInstanceOf } from "./statement.ts";

/** Writes that owners begin. The batch is in the order of refs, in which rows are locked. Index: instance_pkey. */
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
