import type { HookInsert, SettleResult } from "../../src/store/hooks/hook-records.ts";

/** What the database must have of one hook, according to its answers to callers. */
export interface HookAccount {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  state: "live" | "failed" | "completed" | "gone";
  /** The trigger whose payload runs now or next. */
  n: number;
  /** The trigger that is stored beside a running hook. */
  nextN: number | null;
  triggeredAt: number;
  lastTrigger: string;
  /** Its owner. An owner whose lease has ended counts until another worker takes over. */
  lock: string | null;
  /** When it is due, or the end of the lease. */
  availableAt: number;
  /** When the trigger beside it is due. */
  nextAt: number;
  /** How far the waiting triggers, in the row or beside it, may be postponed; null means not at all. */
  latestAt: number | null;
  /** How many attempts the waiting triggers have had. */
  attempts: number;
  /** How many owners in a row were lost with it, according to the answer to its last owner. */
  recoveries: number;
  /** Whether its owner has written that it begins. */
  confirmed: boolean;
  /** Whether an owner was lost that hadn't written that it begins, and whose loss isn't counted yet. */
  inDoubt: boolean;
  purgeAt: number;
}

const NEVER = Number.POSITIVE_INFINITY;

const PRESENT: Record<HookAccount["state"], SettleResult> = {
  live: "lost",
  failed: "failed",
  completed: "completed",
  gone: "deleted",
};

/** The answer to a former owner that settles it again. */
export function presentResult({ state, lock }: HookAccount): SettleResult {
  return state === "live" && lock === null ? "pending" : PRESENT[state];
}

/** When a trigger that is written at this time is due. */
function dueAt({ processAt, debounce, triggeredAt }: HookInsert, at: number): number {
  if (debounce === null) return Math.max(processAt ?? at, at);
  return Math.max(Math.min(processAt ?? NEVER, (triggeredAt ?? at) + debounce.delayMs), at);
}

/** How far it may be postponed. */
function latestAt({ processAt, debounce, triggeredAt }: HookInsert, at: number): number | null {
  if (debounce === null) return null;
  return Math.max(Math.min(processAt ?? NEVER, (triggeredAt ?? at) + debounce.maxWaitMs), at);
}

/** A trigger has a row of its own. */
export function openAccount(trigger: HookInsert, n: number, at: number): HookAccount {
  const { id, name, key, lease, triggeredAt } = trigger;
  return {
    id,
    name,
    key,
    state: "live",
    n,
    nextN: null,
    triggeredAt: triggeredAt ?? at,
    lastTrigger: id,
    lock: lease?.lock ?? null,
    availableAt: lease === null ? dueAt(trigger, at) : at + lease.leaseMs,
    nextAt: NEVER,
    latestAt: latestAt(trigger, at),
    attempts: 0,
    recoveries: 0,
    confirmed: false,
    inDoubt: false,
    purgeAt: NEVER,
  };
}

/** Another trigger of its key comes in. Returns when the waiting triggers are due now. */
export function takeIn(account: HookAccount, trigger: HookInsert, at: number, newer: boolean): number {
  const alone = account.lock === null ? account.attempts > 0 : account.nextN === null;
  const waiting = account.lock === null ? account.availableAt : account.nextAt;
  const [due, latest] = [dueAt(trigger, at), latestAt(trigger, at)];
  if (latest === null) {
    account.latestAt = alone || account.latestAt === null ? null : Math.min(account.latestAt, due);
    return Math.min(waiting, due);
  }
  account.latestAt = alone ? latest : Math.min(account.latestAt ?? waiting, latest);
  const wanted = newer || waiting === NEVER ? due : waiting;
  return Math.min(wanted, account.latestAt);
}
