import type { InstanceAccount } from "../books/instance-account.ts";
import type { World } from "../world.ts";

/** The owner of an instance learns of new events, and whether it is paused. */
export function checkNews(
  world: World,
  account: InstanceAccount,
  { wakes, paused }: { readonly wakes: number; readonly paused: boolean },
): void {
  if (wakes === account.wakes && paused === account.paused) return;
  const details = `${wakes} wakes${paused ? ", paused" : ""} instead of ${account.wakes}${account.paused ? ", paused" : ""}`;
  world.violate("owners are told what happened", `${account.lock} of ${account.ref}: ${details}`);
}
