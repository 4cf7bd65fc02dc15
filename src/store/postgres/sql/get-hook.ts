import { RECORD } from "./hook-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/** Index: hook_pkey. */
export function getHook(schema: SchemaPrefix): Statement {
  return {
    name: "get_hook",
    text: `select ${RECORD} from ${schema}hook as hook where hook.namespace = $1 and hook.id = $2`,
  };
}
