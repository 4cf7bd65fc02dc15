import { seesPayloads } from "./api.ts";

/**
 * The key of a limit, as the code names it: one that isn't shared begins with the namespace and the workflow. Code makes keys
 * from params, so it is hidden from those who don't see these.
 */
export function shownKey(key: string, workflowName: string): string {
  const prefix = `/${workflowName}/`;
  const at = key.indexOf(prefix);
  if (!seesPayloads()) return "a hidden key";
  return at < 0 ? key : key.slice(at + prefix.length);
}
