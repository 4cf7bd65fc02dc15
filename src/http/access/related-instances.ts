import type { Explanation, WaitingReason } from "../../monitoring/explanation.ts";
import { toExplanation } from "../../monitoring/sentences.ts";
import type { InstanceParent } from "../../workflows/instances/instance.ts";
import type { HttpHost } from "../http-host.ts";
import type { Scope } from "./scope.ts";

/** Instances without the parents that the caller doesn't see. */
export async function hideParents<Item extends { readonly parent?: InstanceParent }>(
  host: HttpHost,
  scope: Scope,
  items: readonly Item[],
): Promise<readonly Item[]> {
  if (!scope.narrowed) return items;
  const seen = await findSeen(host, scope, items);
  return items.map((item) => {
    const { parent, ...rest } = item;
    return parent === undefined || seen.has(nameOf(parent)) ? item : (rest as Item);
  });
}

/** An explanation without the names of children that the caller doesn't see. */
export async function hideChildren(host: HttpHost, scope: Scope, explanation: Explanation): Promise<Explanation> {
  const { reason, others, clockAheadMs = null } = explanation;
  const reasons = [reason, ...others];
  const children = reasons.filter((one) => one.reason === "waitingForChild");
  if (!scope.narrowed || children.length === 0) return explanation;
  const seen = await findSeen(
    host,
    scope,
    children.map((parent) => ({ parent })),
  );
  const shown = (one: WaitingReason): WaitingReason =>
    one.reason !== "waitingForChild" || seen.has(nameOf(one)) ? one : { ...one, workflowName: HIDDEN, id: HIDDEN };
  return toExplanation("instance", [shown(reason), ...others.map(shown)], clockAheadMs);
}

/** No name of a workflow or an instance. */
const HIDDEN = "(hidden)";

async function findSeen(
  host: HttpHost,
  scope: Scope,
  items: readonly { readonly parent?: InstanceParent }[],
): Promise<ReadonlySet<string>> {
  const names = items.flatMap(({ parent }) => (parent === undefined ? [] : [parent]));
  const runs = await host.findRuns(
    names.map(({ workflowName, id }) => ({ workflowName, instanceId: id })),
    scope,
  );
  return new Set(names.filter((_, index) => runs[index]).map(nameOf));
}

function nameOf({ workflowName, id }: InstanceParent): string {
  return JSON.stringify([workflowName, id]);
}
