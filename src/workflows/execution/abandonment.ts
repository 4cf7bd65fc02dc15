import { InvalidInputError } from "../../errors.ts";
import { decodeValue, encodeError } from "../../values/index.ts";
import type { EventCall, SleepCall } from "./steps/step-call.ts";

/** A call that the code can abandon. */
export type AbandonableCall = SleepCall | EventCall;

/** The waits that the code has abandoned and isn't told of yet, in the order of abandoning. */
export class Abandonments {
  #calls: AbandonableCall[] = [];

  get empty(): boolean {
    return this.#calls.length === 0;
  }

  add(call: AbandonableCall): void {
    this.#calls.push(call);
  }

  take(): AbandonableCall | undefined {
    return this.#calls.length === 0 ? undefined : this.#calls.shift();
  }

  clear(): void {
    this.#calls = [];
  }
}

/** Why a wait was abandoned, as it is stored. */
export function storeReason({ signal }: AbandonableCall): string {
  return encodeError(signal?.reason);
}

/** What the code gets: the reason itself, or the stored one if a replay hasn't aborted the signal. */
export function reasonOf({ signal }: { readonly signal: AbortSignal | null }, value: string): unknown {
  return signal?.aborted ? signal.reason : decodeValue(value);
}

/** The execution whose code waits. */
interface WaitOwner {
  enter(call: AbandonableCall): Promise<unknown>;
  abandonWait(call: AbandonableCall): void;
}

/** Begins a wait that the signal ends. */
export function enterAbandonable(owner: WaitOwner, call: AbandonableCall, given: unknown): Promise<unknown> {
  if (given === undefined) return owner.enter(call);
  const signal = checkSignal(given);
  call.signal = signal;
  const ended = owner.enter(call);
  const abandon = () => owner.abandonWait(call);
  if (signal.aborted) abandon();
  else {
    signal.addEventListener("abort", abandon, { once: true });
    const forget = () => signal.removeEventListener("abort", abandon);
    ended.then(forget, forget);
  }
  return ended;
}

/** A signal of another realm is accepted, too. */
function checkSignal(signal: unknown): AbortSignal {
  const { aborted, addEventListener } = Object(signal) as Partial<AbortSignal>;
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return signal as AbortSignal;
  throw new InvalidInputError("step.invalid", "The signal of a wait must be an AbortSignal.");
}
