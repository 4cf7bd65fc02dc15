import type { QueueScope } from "./claim-request.ts";
import { WorkClass } from "./work-class.ts";

/** One class of one namespace: the part of the queue's index that is read in order. */
export interface QueueLane extends QueueScope {
  readonly class: WorkClass;
}

const HOOK_ORDER = [WorkClass.leased, WorkClass.continuing, WorkClass.fresh];
const LINE_ORDER = [WorkClass.lineContinuing, WorkClass.lineFresh];
const INSTANCE_ORDER = [WorkClass.leased, WorkClass.continuing, WorkClass.urgent, WorkClass.fresh, WorkClass.patient];

/**
 * The lanes of these scopes in the order in which they are served: class by class, and within a class the namespaces as given.
 * Rows to take over come first.
 */
export function hookLanes(scopes: readonly QueueScope[], takeOver: boolean, inLine = false): QueueLane[] {
  return lanes(inLine ? LINE_ORDER : HOOK_ORDER, scopes, takeOver);
}

/** The same for instances, some of which have priorities. */
export function instanceLanes(scopes: readonly QueueScope[], takeOver: boolean): QueueLane[] {
  return lanes(INSTANCE_ORDER, scopes, takeOver);
}

function lanes(order: readonly WorkClass[], scopes: readonly QueueScope[], takeOver: boolean): QueueLane[] {
  return order
    .filter((workClass) => takeOver || workClass !== WorkClass.leased)
    .flatMap((workClass) =>
      scopes.filter((scope) => scope.names.length > 0).map((scope) => ({ ...scope, class: workClass })),
    );
}
