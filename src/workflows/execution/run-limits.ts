import { NonRetryableError } from "../../errors.ts";
import type { NewEntry } from "../../store/instances/instance-records.ts";
import { encodeValue } from "../../values/index.ts";
import type { WorkflowSettings } from "../define/workflow-settings.ts";

const encoder = new TextEncoder();
const SHORT = 200;
const LAST_OF_ONE_BYTE = 0x7f;

/**
 * The limits of one run: how many steps it may call, how large its results may be, and how much its journal takes.
 *
 * A run whose journal is full goes on, but its steps fail. Steps that have begun can still be written to their end, and the
 * code may catch the error and end as it likes. The journal stays full, so a replay comes to the same result. The size of
 * progress isn't counted, because progress is dropped, nor is the size of our own entries about sleeps.
 */
export class RunLimits {
  readonly #limits: WorkflowSettings;
  #entries = 0;
  #bytes = 0;
  #steps = 0;

  constructor(limits: WorkflowSettings) {
    this.#limits = limits;
  }

  /** The code calls a step. Throws if it has called too many. */
  countStep(): void {
    const { maxSteps } = this.#limits;
    if (++this.#steps <= maxSteps) return;
    throw new NonRetryableError(
      `A run may have at most ${maxSteps} steps. Raise workflowLimits.steps, or let a child continue.`,
      "TooManyStepsError",
    );
  }

  /** Counts an entry of the journal. */
  add({ kind, type, value }: Pick<NewEntry, "kind" | "type" | "value">): void {
    this.#entries++;
    if (kind !== "progress" && type !== "sleep") this.#bytes += sizeOf(value);
  }

  /** Whether the journal takes no more entries. */
  get full(): boolean {
    return this.#entries >= this.#limits.maxJournalEntries || this.#bytes >= this.#limits.maxJournalBytes;
  }

  /** Whether the journal takes another entry with this value. */
  takes(value: string | null): boolean {
    return !this.full && this.#bytes + sizeOf(value) <= this.#limits.maxJournalBytes;
  }

  /**
   * The error of a step that the journal has no room for. `cause` is the error of its last attempt, if it can't be tried again.
   */
  refusal(cause?: unknown): NonRetryableError {
    const { maxJournalEntries, maxJournalBytes } = this.#limits;
    const error = new NonRetryableError(
      `The journal of a run may have at most ${maxJournalEntries} entries and ${maxJournalBytes} bytes. Raise ` +
        "workflowLimits.journalEntries or workflowLimits.journalBytes, keep large results elsewhere, or let a child continue.",
      "JournalFullError",
    );
    if (cause !== undefined) error.cause = cause;
    return error;
  }

  /** The result of a step, as it is stored. Throws if it can't be stored, or is too large. */
  encodeStepResult(name: string, value: unknown): string {
    return encodeValue(value, {
      label: `The result of the step "${name}"`,
      maxBytes: this.#limits.maxStepResultBytes,
    });
  }

  /** The result of the workflow, as it is stored. Throws if it can't be stored, or is too large. */
  encodeOutput(value: unknown): string {
    return encodeValue(value, { label: "The result of the workflow", maxBytes: this.#limits.maxResultBytes });
  }
}

/** In bytes of UTF-8. A loop over a short text is quicker than encoding it. */
function sizeOf(text: string | null): number {
  if (text === null) return 0;
  if (text.length > SHORT) return encoder.encode(text).length;
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > LAST_OF_ONE_BYTE) return encoder.encode(text).length;
  }
  return text.length;
}
