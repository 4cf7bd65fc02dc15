import { path } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { now } from "../data/times.ts";
import type { Instance } from "../data/types.ts";
import { type Step, toSteps } from "./steps.ts";
import { useHistory } from "./use-history.ts";

/** The steps, with those of the child of one of them below it, on the same scale. */
export function useChildSteps(steps: readonly Step[], opened: string | null): readonly Step[] {
  const index = opened === null ? -1 : steps.findIndex(({ key }) => key === opened);
  const parent = steps[index];
  const child = parent?.child ?? null;
  const url = child === null ? null : `/workflows${path(child.workflowName)}/instances${path(child.id)}`;
  const { data: instance } = useResource<Instance>(url);
  const over = instance !== null && instance.finishedAt !== null;
  const history = useHistory(child?.workflowName ?? "", child?.id ?? "", instance?.run ?? null, over);
  if (instance === null || history === null || parent === undefined) return steps;
  const until = instance.finishedAt === null ? now.value : Date.parse(instance.finishedAt);
  const startedAt = Date.parse(instance.startedAt ?? instance.createdAt);
  const inner = toSteps(history.entries, { startedAt, until, finished: instance.finishedAt !== null });
  const below = inner.map((step) => ({
    ...step,
    key: `${parent.key}>${step.key}`,
    depth: step.depth + parent.depth + 1,
  }));
  return [...steps.slice(0, index + 1), ...below, ...steps.slice(index + 1)];
}
