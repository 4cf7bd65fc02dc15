import type { InstanceAccount } from "../books/instance-account.ts";
import type { World } from "../world.ts";

type Read = (text: string) => Record<string, unknown>[];

/** The rows that belong to instances. */
const TABLES = ["perdure_journal", "perdure_event", "perdure_past_run", "perdure_stream_chunk"] as const;
/** Dependents of purged instances may still have to be swept up. */
const ORPHANS = TABLES.map(
  (table) => `select '${table}' as source, ref from ${table} as dependent
where not exists (select 1 from perdure_instance as owner where owner.ref = dependent.ref)
  and not exists (select 1 from perdure_deleted_instance as deleted where deleted.ref = dependent.ref)`,
).join("\nunion\n");
const LABELS = "select name, key, value, ref from perdure_label order by ref, key";

/** An instance's dependents are deleted with it, and nothing else is. */
export function checkDependents(world: World, accounts: Iterable<InstanceAccount>, read: Read): void {
  for (const { source, ref } of read(ORPHANS)) world.violate("nothing is left of what is gone", `${source} of ${ref}`);
  const expected: string[] = [];
  for (const { ref, name, state, labels } of accounts) {
    if (state === "gone" || labels === null) continue;
    for (const [key, value] of Object.entries(JSON.parse(labels) as Record<string, string>)) {
      expected.push(`${ref} ${name} ${key}=${value}`);
    }
  }
  const stored = read(LABELS).map(({ ref, name, key, value }) => `${ref} ${name} ${key}=${value}`);
  const difference = [...new Set(stored).symmetricDifference(new Set(expected))];
  if (difference.length > 0) world.violate("labels go with their instances", difference.join(", "));
}
