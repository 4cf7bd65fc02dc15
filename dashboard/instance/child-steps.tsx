import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { path } from "../data/api.ts";
import { useResource } from "../data/live.ts";
import { now } from "../data/times.ts";
import type { Instance } from "../data/types.ts";
import { type Step, toSteps } from "./steps.ts";
import { useHistory } from "./use-history.ts";

/** The steps of children that were read, by the keys of the steps under which they are shown. */
export type ReadChildren = ReadonlyMap<string, readonly Step[]>;

/** The steps, each followed by those of its child if that is opened and read, on the same scale and at any depth. */
export function withChildren(steps: readonly Step[], opened: ReadonlySet<string>, read: ReadChildren): readonly Step[] {
  return steps.flatMap((step) => {
    const inner = step.expands && opened.has(step.key) ? (read.get(step.key) ?? []) : [];
    const below = inner.map((one) => ({ ...one, key: `${step.key}>${one.key}`, depth: one.depth + step.depth + 1 }));
    return [step, ...withChildren(below, opened, read)];
  });
}

interface ReaderProps {
  readonly parent: string;
  readonly child: NonNullable<Step["child"]>;
  readonly into: Signal<ReadChildren>;
}

/** Reads the steps of an opened child, and shows nothing itself. */
export function ChildReader({ parent, child: { workflowName, id }, into }: ReaderProps) {
  const { data: instance } = useResource<Instance>(
    `/workflows${path(workflowName)}/instances${path(id)}?details=false`,
  );
  const finished = instance !== null && instance.finishedAt !== null;
  const history = useHistory(workflowName, id, instance?.run ?? null, finished);
  const until = instance === null || instance.finishedAt === null ? now.value : Date.parse(instance.finishedAt);
  useEffect(() => {
    if (instance === null || history === null) return;
    const startedAt = Date.parse(instance.startedAt ?? instance.createdAt);
    into.value = new Map(into.value).set(parent, toSteps(history.entries, { startedAt, until, finished }));
  }, [instance, history, until]);
  return null;
}
