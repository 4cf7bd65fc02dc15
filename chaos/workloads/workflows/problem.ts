import type { Problem } from "../../workload.ts";

export const LOST = "nothing accepted is lost";

export function problem(promise: string, details: string, ...items: string[]): Problem {
  return { promise, details, items };
}
