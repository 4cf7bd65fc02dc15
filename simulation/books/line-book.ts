import { limitsOf } from "../workloads/limits.ts";
import type { World } from "../world.ts";
import type { InstanceAccount } from "./instance-account.ts";

/** Instances that share a key: how many run, and when they started. */
export class LineBook {
  readonly #world: World;
  readonly #accounts: ReadonlyMap<string, InstanceAccount>;
  readonly #starts = new Map<string, number[]>();

  constructor(world: World, accounts: ReadonlyMap<string, InstanceAccount>) {
    this.#world = world;
    this.#accounts = accounts;
  }

  /** A worker owns it now. `starts`: for the first time in this run. */
  taken(account: InstanceAccount, starts: boolean): void {
    const { slots, starts: rate } = limitsOf(account.name);
    if (account.slotKey !== null && slots !== null && this.held(account.slotKey) > slots) {
      const running = `${this.held(account.slotKey)} of ${account.slotKey} run, the last of them ${account.ref}`;
      this.#world.violate("no more run at a time than may", running);
    }
    if (account.rateKey === null || rate === null || !starts || account.rollingBack !== null) return;
    const { now } = this.#world;
    const times = (this.#starts.get(account.rateKey) ?? []).filter((at) => at > now - rate.periodMs);
    times.push(now);
    this.#starts.set(account.rateKey, times);
    if (times.length <= rate.limit) return;
    this.#world.violate(
      "no more start in a period than may",
      `${account.ref} of ${account.rateKey} at ${times.join(", ")}`,
    );
  }

  /** The number of instances that hold a slot, including those whose owner was lost, until another worker takes them over. */
  held(slotKey: string): number {
    let count = 0;
    for (const account of this.#accounts.values()) if (account.slotKey === slotKey && hasSlot(account)) count++;
    return count;
  }

  /** Whether it must wait for others that share its key. */
  isHeldUp(account: InstanceAccount): boolean {
    if (!standsInLine(account)) return false;
    const { slots, starts } = limitsOf(account.name);
    if (account.slotKey !== null && slots !== null && this.held(account.slotKey) >= slots) return true;
    return (
      account.rateKey !== null && starts !== null && !account.started && this.startsLeft(account.rateKey, starts) <= 0
    );
  }

  startsLeft(rateKey: string, { limit, periodMs }: { readonly limit: number; readonly periodMs: number }): number {
    const since = this.#world.now - periodMs;
    return limit - (this.#starts.get(rateKey) ?? []).filter((at) => at > since).length;
  }
}

/** One that was recovered and given back keeps its slot. */
function hasSlot({ state, held, recoveries }: InstanceAccount): boolean {
  return state === "live" && (held || recoveries > 0);
}

/** Whether only an admission from its line may take it, and no claim. A rollback starts nothing, so no rate holds it up. */
export function standsInLine(account: InstanceAccount): boolean {
  const { state, slotKey, rateKey, started, rollingBack } = account;
  if (state !== "live" || hasSlot(account)) return false;
  return slotKey !== null || (rateKey !== null && !started && rollingBack === null);
}
