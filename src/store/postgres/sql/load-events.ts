import { presentRuns } from "./load-instances.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { isInstanceOf, placedBatch } from "./statement.ts";

/**
 * What came in since, in one snapshot: a row for each event, and one without where there is none. Indexes: instance_pkey, event_pkey.
 */
export function loadEvents(schema: SchemaPrefix): Statement {
  return {
    name: "load_events",
    planOnce: true,
    text: `
with ${presentRuns(schema, placedBatch(1, { ref: "text", run: "int", after: "int" }))}
select present.place, present.wakes, event.*
from present left join lateral (
  select event.sequence, event.type, event.id, event.payload::text as payload, event.at
  from ${schema}event as event
  where ${isInstanceOf("event", "present")} and event.run = present.run and event.sequence > present.after
) as event on true`,
  };
}
