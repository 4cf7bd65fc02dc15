import type { HookScope } from "./hook-records.ts";
import { WorkClass } from "./work-class.ts";

/** One class of one namespace: the part of the queue's index that is read in order. */
export interface HookLane extends HookScope {
  readonly class: WorkClass;
}

const ORDER = [WorkClass.leased, WorkClass.continuing, WorkClass.fresh] as const;

/**
 * The lanes of these scopes in the order in which they are served: class by class, and within a class the namespaces as given.
 * What is to be taken over comes first.
 */
export function hookLanes(scopes: readonly HookScope[], takeOver: boolean): HookLane[] {
  return ORDER.filter((workClass) => takeOver || workClass !== WorkClass.leased).flatMap((workClass) =>
    scopes.filter((scope) => scope.names.length > 0).map((scope) => ({ ...scope, class: workClass })),
  );
}
