import type { HookStatus } from "../../hooks/hook-records.ts";
import { RECORD, STATUS_CONDITIONS } from "./hook-record.ts";

/** One page in the order of ids. Indexes: perdure_hook_failed for dead letters; else the primary key. */
export function listHooks(
  status: HookStatus | null,
  order: "oldest" | "newest",
  { paged }: { paged: boolean },
): string {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return `
select ${RECORD} from perdure_hook ${status === "failed" ? "indexed by perdure_hook_failed" : ""}
where namespace = ?1
  and (?2 is null or name = ?2)
  ${paged ? `and id ${comparison} ?4` : ""}
  ${status === null ? "" : `and ${STATUS_CONDITIONS[status]}`}
order by id ${direction}
limit ?3`;
}
