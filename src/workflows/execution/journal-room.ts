import { NonRetryableError } from "../../errors.ts";
import type { NewEntry } from "../../store/instances/instance-records.ts";

export interface JournalLimits {
  readonly maxJournalEntries: number;
  readonly maxJournalBytes: number;
}

const encoder = new TextEncoder();
const SHORT = 200;
const LAST_OF_ONE_BYTE = 0x7f;

/**
 * How much more the journal of a run may take. A run whose journal is full goes on, but its steps fail: what has begun can still be
 * written to its end, and the code may catch that and end as it likes. It stays full, so a replay comes to the same. What a step
 * tells while it runs isn't counted by its size: it is dropped. Nor is what we note of a sleep: it isn't the code's.
 */
export class JournalRoom {
  readonly #limits: JournalLimits;
  #entries = 0;
  #bytes = 0;

  constructor(limits: JournalLimits) {
    this.#limits = limits;
  }

  /** Whether it takes nothing more. */
  get full(): boolean {
    return this.#entries >= this.#limits.maxJournalEntries || this.#bytes >= this.#limits.maxJournalBytes;
  }

  add({ kind, type, value }: Pick<NewEntry, "kind" | "type" | "value">): void {
    this.#entries++;
    if (kind !== "progress" && type !== "sleep") this.#bytes += sizeOf(value);
  }

  /** Whether it takes another entry with this value. */
  takes(value: string | null): boolean {
    const { maxJournalBytes } = this.#limits;
    return !this.full && this.#bytes + sizeOf(value) <= maxJournalBytes;
  }

  /** What a step fails with that it has no room for; `cause` is what an attempt threw after which no other can be made. */
  refusal(cause?: unknown): NonRetryableError {
    const { maxJournalEntries, maxJournalBytes } = this.#limits;
    const error = new NonRetryableError(
      `The journal of a run may have ${maxJournalEntries} entries and ${maxJournalBytes} bytes, and this is more. Raise ` +
        "workflowLimits.journalEntries or workflowLimits.journalBytes, keep large results elsewhere, or let a child go on.",
      "JournalFullError",
    );
    if (cause !== undefined) error.cause = cause;
    return error;
  }
}

/** In bytes of UTF-8. Short texts are looked through, which is quicker than to encode them. */
function sizeOf(text: string | null): number {
  if (text === null) return 0;
  if (text.length > SHORT) return encoder.encode(text).length;
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > LAST_OF_ONE_BYTE) return encoder.encode(text).length;
  }
  return text.length;
}
