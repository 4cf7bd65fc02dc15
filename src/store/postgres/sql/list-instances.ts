import type { InstanceStatus } from "../../instance-records.ts";
import { RECORD, STATUS } from "./instance-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/** One page in the order of refs, which is that of time. Index: instance_pkey, which the other filters don't narrow down. */
export function listInstances(
  schema: SchemaPrefix,
  status: InstanceStatus | null,
  order: "oldest" | "newest",
): Statement {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return {
    name: `list_${status ?? "all"}_instances_${order}`,
    slow: true,
    text: `
select ${RECORD} from ${schema}instance as instance
where instance.namespace = $1
  and ($2::text is null or instance.name = $2)
  and ($3::bigint is null or instance.created_at >= $3)
  and ($4::bigint is null or instance.created_at < $4)
  and ($5::text is null or instance.ref ${comparison} $5)
  ${status === null ? "" : `and ${STATUS} = '${status}'`}
order by instance.ref ${direction}
limit $6`,
  };
}
