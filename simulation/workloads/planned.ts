import type { Behaviour } from "../books/trigger-record.ts";
import type { Params } from "../checks/instance-records.ts";

/** What a function of this name does in this attempt. */
export function planned({ plans }: Params, name: string, attempt: number): Behaviour {
  let sum = 0;
  for (const character of name) sum += character.charCodeAt(0);
  const plan = plans[sum % plans.length] ?? [];
  return plan[Math.min(attempt, plan.length) - 1] ?? "succeed";
}
