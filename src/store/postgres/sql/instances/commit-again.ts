import type { SchemaPrefix, Statement } from "../statement.ts";
import { indexedBatch, isInstanceOf, NOW } from "../statement.ts";
import { andNoteLines, freeSlots, type Telling, whenTold } from "../tell-lines.ts";
import {
  entryRows,
  FREED,
  HELD,
  insertEntries,
  MAY_END,
  SENT_BY_OWNER,
  tellHeld,
  triggerHooks,
  WRITE_OUTCOME,
} from "./commit-instances.ts";

/** The instances that this sending finishes. Those that the first sending finished have triggered their hooks. */
const ENDED = "(select item.ref from item where item.held and item.kind <> 'running')";
const ENTRY_COLUMNS = 13;
const COLUMNS = ["kind", "type", "name", "count", "attempt", "due_at", "event", "parent", "began"];

/**
 * Commits that may have been written before, with the reply lost. Rows are locked first, in the order of the batch, which is
 * that of refs, so that the decision is about their present state. A row that was parked or finished with the sender's token
 * was written by the first sending. A row that is still held has either the sender's entries, or no entries at their positions,
 * or entries of an earlier owner; then the commit is superseded. If the first sending is still under way, its entries are a
 * conflict, and the next try finds them. Indexes: instance_pkey, journal_pkey, hook_pkey; line_pkey.
 */
export function commitAgain(
  schema: SchemaPrefix,
  { hooks, ...telling }: Telling & { readonly hooks: boolean },
): Statement {
  const text = "text";
  const outcome = { kind: text, due_at: "bigint", wakes: "int", output: "json", error: "json", rollback: "json" };
  const items = indexedBatch(2, { ref: text, run: "int", lock: text, ...outcome });
  const firstEntry = 11;
  const same = COLUMNS.map((column) => `stored.${column} is not distinct from entry.${column}`).join(" and ");
  return {
    name: `commit_again${hooks ? "_hooks" : ""}${whenTold(telling)}`,
    ...(telling.later && { tellsLater: true }),
    text: `
with clock as materialized (select ${NOW} as now),
locked as materialized (
  select item.*, ${HELD} as held, instance.wakes as present_wakes, instance.paused
  from ${items} as item
  join ${schema}instance as instance
    on ${isInstanceOf("instance", "item")} and ${SENT_BY_OWNER} and ${MAY_END}
  for update of instance
),
found as materialized (
  select entry.ref, count(stored.position) as stored,
    count(*) = count(*) filter (where ${same} and stored.value::text is not distinct from entry.value::text) as same
  from ${entryRows(firstEntry, "any")}
  left join lateral (
    select * from ${schema}journal as journal
    where ${isInstanceOf("journal", "entry")} and journal.run = entry.run and journal.position = entry.position
    limit 1
  ) as stored on true
  group by entry.ref
),
item as materialized (
  select locked.*, not coalesce(locked.ref in (select found.ref from found where found.stored > 0), false) as fresh
  from locked
  where not locked.held or not coalesce(locked.ref in (select found.ref from found where found.stored > 0 and not found.same), false)
),
ended as (
  update ${schema}instance as instance set
    ${WRITE_OUTCOME.any}
  from (select * from item where item.held and item.kind <> 'running') as item cross join clock
  where ${isInstanceOf("instance", "item")}
  returning instance.slot_key, instance.namespace, instance.name
),
freed as (
  ${freeSlots(schema, FREED, telling)}
),
written as (
  ${insertEntries(schema, firstEntry, "any")}
  where coalesce(entry.ref in (select ref from item where item.held and item.fresh), false)
)${hooks ? triggerHooks(schema, firstEntry + ENTRY_COLUMNS, ENDED) : ""}
${tellHeld("item", "present_wakes", andNoteLines(telling, "freed"))}`,
  };
}
