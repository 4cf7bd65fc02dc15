import { PerdureError, StoreError } from "../../errors.ts";
import { isNonRetryable } from "../../non-retryable.ts";
import { requestedDelay } from "../../queue/retry-policy.ts";
import {
  decodeValue,
  encodeError,
  encodeValue,
  markCaused,
  markDelayed,
  markSensitive,
  StreamReference,
  tame,
} from "../../values/index.ts";
import { StreamRefusedError } from "../streams/chunks.ts";
import { StreamLostError } from "../streams/step-streams.ts";
import type { Attempt, AttemptResult } from "./attempt.ts";
import type { Bodies } from "./bodies.ts";
import type { Commits } from "./commits.ts";
import type { DatabaseTime } from "./database-time.ts";
import type { ExecutionHost } from "./execution-host.ts";
import type { OpenWaits } from "./open-waits.ts";
import type { Progress } from "./progress.ts";
import type { BodyCall } from "./step-call.ts";
import { liveValue } from "./step-ending.ts";
import { pathOf } from "./step-path.ts";
import { chooseDelay } from "./step-retry.ts";

/** The parts of an execution that the end of an attempt changes. */
export interface AttemptSurroundings {
  readonly host: ExecutionHost;
  readonly time: DatabaseTime;
  readonly bodies: Bodies;
  readonly waits: OpenWaits;
  readonly commits: Commits;
  readonly progress: Progress;
  isOver(): boolean;
  /** Delivers an ending when it is its turn. */
  arrive(deliver: () => void): void;
  /** The instance isn't ours any more. */
  supersede(): void;
  /** The store failed. */
  fail(error: unknown): void;
}

/** What becomes of a step when an attempt at its function has ended: it completes, is tried again, or fails. */
export class AttemptResults {
  /** Told of each that failed and will be tried again. */
  onAttemptFailed: (call: BodyCall, error: unknown) => void = () => {};
  readonly #parts: AttemptSurroundings;

  constructor(parts: AttemptSurroundings) {
    this.#parts = parts;
  }

  ended(attempt: Attempt, result: AttemptResult): void {
    if (this.#parts.isOver()) return;
    if ("error" in result) {
      void this.#attemptFailed(attempt, result.error);
      return;
    }
    const { call } = attempt;
    const { value } = result;
    const maxBytes = this.#parts.host.limits.maxStepResultBytes;
    try {
      const label = `The result of the step "${call.name}"`;
      const text =
        value === undefined
          ? null
          : value instanceof StreamReference
            ? value.text
            : encodeValue(value, { label, maxBytes });
      const stored = call.policy.sensitive ? markSensitive(text ?? encodeValue(undefined)) : text;
      this.#parts.arrive(() => this.#complete(call, value, stored));
    } catch (error) {
      this.#parts.arrive(() => this.fail(call, tame(error), null));
    }
  }

  /** An attempt has failed: the next comes after the delay, or, if that is null, none does. */
  fail(call: BodyCall, error: unknown, delay: number | null): void {
    const { bodies, time, commits, waits, progress } = this.#parts;
    const value = this.#encode(call, error);
    if (delay !== null && !commits.room.takes(value)) {
      this.fail(call, commits.room.refusal(error), null); // there is no room for another attempt
      return;
    }
    bodies.ended(call);
    if (delay === null) {
      const entry = call.entry("failed", { attempt: call.attempt, value });
      commits.add(entry);
      progress.ended(call, entry);
      call.end({ error: decodeValue(value) });
      return;
    }
    call.dueAt = time.after(delay);
    const retried = { attempt: call.attempt, value: markDelayed(value, Math.ceil(delay)), dueAt: call.dueAt };
    commits.add(call.entry("failed", retried));
    waits.add(call);
    this.onAttemptFailed(call, error);
  }

  /** With what failed inside of it and made it fail. */
  #encode(call: BodyCall, error: unknown): string {
    const failures = call.surroundings?.failures;
    return markCaused(encodeError(error), failures?.any ? failures.behind(error, pathOf(call)) : []);
  }

  async #attemptFailed({ call, context }: Attempt, error: unknown): Promise<void> {
    const { host } = this.#parts;
    if (error instanceof StreamLostError) {
      if (error.cause === undefined) this.#parts.supersede();
      else this.#parts.fail(error.cause);
      return;
    }
    const ours = call.type === "create";
    if (ours && error instanceof StoreError) {
      this.#parts.fail(error);
      return;
    }
    const refused =
      isNonRetryable(error) || error instanceof StreamRefusedError || (ours && error instanceof PerdureError);
    let failure = error;
    let delay: number | null = null;
    if (!refused && call.attempt <= call.policy.limit) {
      try {
        delay = requestedDelay(error, host.clock.now());
        delay ??= await chooseDelay(call.policy, context, error, host.clock);
      } catch (noDelay) {
        failure = noDelay;
      }
    }
    // The function that chose the delay may have taken its time: the run may be over, or be rolled back.
    const stillOurs = !this.#parts.isOver() && this.#parts.bodies.isRunning(call);
    if (stillOurs) this.#parts.arrive(() => this.fail(call, failure, delay));
  }

  #complete(call: BodyCall, value: unknown, text: string | null): void {
    const { bodies, commits, progress } = this.#parts;
    if (!commits.room.takes(text)) {
      this.fail(call, commits.room.refusal(), null);
      return;
    }
    bodies.ended(call);
    if (call.rollback !== null) call.output = text;
    const entry = call.entry("completed", { attempt: call.attempt, value: text });
    commits.add(entry);
    progress.ended(call, entry);
    call.end({ value: liveValue(value, text) });
  }
}
