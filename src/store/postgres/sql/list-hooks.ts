import type { HookStatus } from "../../hooks/hook-records.ts";
import { RECORD, STATUS_CONDITIONS } from "./hook-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/** One page in the order of ids. Indexes: hook_failed, hook_completed for those; else hook_pkey. */
export function listHooks(schema: SchemaPrefix, status: HookStatus | null, order: "oldest" | "newest"): Statement {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return {
    name: `list_${status ?? "all"}_hooks_${order}`,
    slow: true,
    text: `
select ${RECORD} from ${schema}hook as hook
where hook.namespace = $1
  and ($2::text is null or hook.name = $2)
  and ($3::text is null or hook.id ${comparison} $3)
  ${status === null ? "" : `and ${STATUS_CONDITIONS[status]}`}
order by hook.id ${direction}
limit $4`,
  };
}
