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

/** Whether the caller sees the parent of a filter: otherwise it could find out the parents of its own instances by guessing. */
export async function seesParent(host: HttpHost, scope: Scope, parent: InstanceParent | undefined): Promise<boolean> {
  if (!scope.narrowed || parent === undefined) return true;
  return (await findSeen(host, scope, [{ parent }])).has(nameOf(parent));
}

/** An explanation without the names of children that the caller doesn't see, and of workers, which it never sees. */
export async function hideOthers(host: HttpHost, scope: Scope, explanation: Explanation): Promise<Explanation> {
  if (!scope.narrowed) return explanation;
  const { reason, others, clockAheadMs = null } = explanation;
  const children = [reason, ...others].filter((one) => one.reason === "waitingForChild");
  const seen = await findSeen(
    host,
    scope,
    children.map((parent) => ({ parent })),
  );
  const shown = (one: WaitingReason): WaitingReason => {
    switch (one.reason) {
      case "waitingForChild":
        return seen.has(nameOf(one)) ? one : { ...one, workflowName: HIDDEN, id: HIDDEN };
      case "running":
        return { ...one, worker: HIDDEN, host: null };
      case "due":
        return { ...one, lostBy: one.lostBy === null ? null : HIDDEN };
      default:
        return one;
    }
  };
  return toExplanation("instance", [shown(reason), ...others.map(shown)], clockAheadMs);
}

/** No name of a workflow, an instance or a worker. */
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
