import { makeId } from "../harness/make-id.ts";
import type { Payload } from "./payload.ts";

export const NAMESPACE = "bench";
export const HOOK_NAME = "sendMail";

/** A row as an engine would have to write it, for the floors. Lock and attempts have defaults. */
export interface HookRow {
  readonly id: string;
  readonly payload: string;
  readonly availableAt: number;
}

export function makeHookRow(payload: Payload): HookRow {
  const now = Date.now();
  return { id: makeId(now), payload: JSON.stringify(payload), availableAt: now };
}
