import type { InstanceAccount } from "../books/instance-account.ts";
import type { Behaviour } from "../books/trigger-record.ts";
import type { ProgramName } from "../names.ts";

/** The params of each instance: the number of the call that created it, and what its steps' functions do in each attempt. */
export interface Params {
  readonly n: number | null;
  /** Each step has one of these, chosen by its name. The last behaviour of a plan repeats. */
  readonly plans: readonly (readonly Behaviour[])[];
  /** Milliseconds. */
  readonly short: number;
  readonly long: number;
}

/** As with triggers. */
export type Answer = "asked" | "acknowledged" | "refused" | "unknown";

/** A call that creates an instance, as its caller sees it. */
export interface CreateRecord {
  readonly n: number;
  readonly process: string;
  readonly name: ProgramName;
  answer: Answer;
  /** Whether a commit of the database carried it. */
  accepted: boolean;
}

/** An event, as its sender sees it. */
export interface EventRecord {
  readonly n: number;
  readonly process: string;
  readonly type: string;
  answer: Answer;
  /** The instance that a commit of the database gave it to, or that had one of the same id. */
  holder: InstanceAccount | null;
}
