import { RECORD, STATUS } from "./instance-record.ts";

/** One page in the order of refs, which is that of time. Index: the primary key, which the other filters don't narrow down. */
export function listInstances(
  order: "oldest" | "newest",
  { paged, byStatus }: { paged: boolean; byStatus: boolean },
): string {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return `
select ${RECORD} from perdure_instance
where +namespace = ?1
  and (?2 is null or name = ?2)
  and (?3 is null or created_at >= ?3)
  and (?4 is null or created_at < ?4)
  ${byStatus ? `and ${STATUS} = ?6` : "and ?6 is null"}
  ${paged ? `and ref ${comparison} ?7` : "and ?7 is null"}
order by ref ${direction}
limit ?5`;
}
