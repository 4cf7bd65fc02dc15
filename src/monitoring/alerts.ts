import { callSafely } from "../call-safely.ts";
import type { Store } from "../store/store.ts";
import { type ErrorDescription, loggedError } from "../values/index.ts";

/** What an alert is about. */
export type AlertTarget =
  | { readonly kind: "hook"; readonly hookName: string; readonly hookId: string }
  | { readonly kind: "instance"; readonly workflowName: string; readonly instanceId: string };

/** What a process has noticed. */
export type AlertDetails =
  /** Hooks or instances are due under names that no live worker runs. Told once an hour for each name. */
  | { readonly kind: "unclaimed"; readonly hooks: readonly string[]; readonly workflows: readonly string[] }
  /** An instance is held, because its code doesn't match its history. Told once an hour for each instance. */
  | { readonly kind: "diverged"; readonly target: AlertTarget; readonly error: ErrorDescription }
  /** It was lost with its process three times in a row or more: it may be what ends the process. Told after each loss. */
  | { readonly kind: "crashLoop"; readonly target: AlertTarget; readonly losses: number }
  /** A hook failed for good. The error's message is the handler's own. */
  | {
      readonly kind: "deadLetter";
      readonly target: AlertTarget;
      readonly attempts: number;
      readonly error: ErrorDescription;
    };

/** Something that people should look at. */
export type Alert = AlertDetails & {
  /** By the database adapter's clock. */
  readonly at: Date;
  readonly namespace: string;
};

/** Receives alerts. It may throw without harm, and isn't awaited. */
export type OnAlert = (alert: Alert) => unknown;

/** So many losses in a row are no accident. */
const LEAST_LOSSES = 3;
const QUIET_MS = 3_600_000;
const MOST_REMEMBERED = 10_000;

interface Listeners {
  readonly callbacks: readonly { readonly namespace: string; readonly onAlert: OnAlert }[];
  /** By the instance, when it was told of. */
  readonly told: Map<string, number>;
}

const listening = new WeakMap<Store, Listeners>();

/** From now on the callback receives the alerts of a namespace that this process notices. */
export function listenToAlerts(store: Store, namespace: string, onAlert: OnAlert): void {
  const { callbacks, told } = listening.get(store) ?? { callbacks: [], told: new Map() };
  listening.set(store, { callbacks: [...callbacks, { namespace, onAlert }], told });
}

export function raiseAlert(store: Store, namespace: string, details: AlertDetails): void {
  const listeners = listening.get(store);
  if (listeners === undefined || (details.kind === "diverged" && isTold(store, listeners, namespace, details.target)))
    return;
  const { clock, logger, stackTraces } = store;
  const alert: Alert = { ...details, at: new Date(clock.now()), namespace };
  for (const { onAlert } of listeners.callbacks.filter((one) => one.namespace === namespace)) {
    callSafely(
      () => onAlert(alert),
      (error) => logger.error("onAlert failed.", { alert: alert.kind, error: loggedError(error, stackTraces) }),
    );
  }
}

/** A worker has taken it over from a lost one. */
export function raiseCrashLoop(store: Store, namespace: string, target: AlertTarget, losses: number): void {
  if (losses >= LEAST_LOSSES) raiseAlert(store, namespace, { kind: "crashLoop", target, losses });
}

function isTold({ clock }: Store, { told }: Listeners, namespace: string, target: AlertTarget): boolean {
  const key = JSON.stringify([namespace, target]);
  const now = clock.monotonic();
  if ((told.get(key) ?? Number.NEGATIVE_INFINITY) > now - QUIET_MS) return true;
  if (told.size >= MOST_REMEMBERED) told.clear();
  told.set(key, now);
  return false;
}
