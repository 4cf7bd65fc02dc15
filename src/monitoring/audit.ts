import { callSafely } from "../call-safely.ts";
import type { Clock } from "../clock.ts";
import { ConflictError, InvalidInputError, NotFoundError, PerdureError } from "../errors.ts";
import type { Logger } from "../logger.ts";

/** What a change is about. */
export type AuditTarget =
  | { readonly kind: "application" }
  | { readonly kind: "workflow"; readonly workflowName: string }
  | { readonly kind: "instance"; readonly workflowName: string; readonly instanceId: string }
  | { readonly kind: "hooks" }
  | { readonly kind: "hook"; readonly hookId: string }
  | { readonly kind: "subjects"; readonly dispatcherId: string }
  | { readonly kind: "subject"; readonly dispatcherId: string; readonly subjectKey: string }
  | { readonly kind: "jobs" }
  | { readonly kind: "job"; readonly jobId: string }
  | { readonly kind: "schedules" }
  | { readonly kind: "schedule"; readonly workflowName: string; readonly scheduleName: string };

/** A change that was asked for, and its outcome. It has no payloads, and nothing secret. */
export interface AuditedChange {
  /** When its outcome was known, by the database adapter's clock. */
  readonly at: Date;
  /** Who asked for it: the name given to `actingAs`, or that of the caller over HTTP; null if there is none. */
  readonly actor: string | null;
  /** The name of the same operation in the OpenAPI document, such as `terminateInstance`. */
  readonly action: string;
  readonly target: AuditTarget;
  /** The ids that it names besides the target, or that of the instance that it created: at most 1000. */
  readonly ids: readonly string[];
  /** `refused`: it changed nothing. `failed`: there was no answer, so it may have changed something. */
  readonly outcome: "done" | "refused" | "failed";
  /** Of the error; null if it was done. */
  readonly code: string | null;
}

/** Receives each change of the application after its outcome is known. It may throw without harm. */
export type OnChange = (change: AuditedChange) => unknown;

export function checkOnAudit(onAudit: unknown): void {
  if (onAudit === undefined || typeof onAudit === "function") return;
  throw new InvalidInputError("options.invalid", "onAudit must be a function.");
}

interface AuditParts {
  readonly onAudit: OnChange;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface AskedChange<Result> extends Pick<AuditedChange, "action" | "target"> {
  readonly ids?: readonly string[];
  /** The ids that the change made. */
  readonly idsOf?: (result: Result) => readonly string[];
}

const MOST_IDS = 1000;

/** Tells the application what one actor changes. */
export class AuditTrail {
  readonly actor: string | null;
  readonly onAudit: OnChange;
  readonly #parts: AuditParts;

  constructor(parts: AuditParts, actor: string | null = null) {
    this.#parts = parts;
    this.actor = actor;
    this.onAudit = parts.onAudit;
  }

  as(actor: string): AuditTrail {
    return new AuditTrail(this.#parts, actor);
  }

  /** Performs a change, and tells of its outcome. */
  async record<Result>(asked: AskedChange<Result>, perform: () => Promise<Result>): Promise<Result> {
    try {
      const result = await perform();
      this.#tell(asked, { ids: asked.idsOf?.(result) ?? [], outcome: "done", code: null });
      return result;
    } catch (error) {
      const code = error instanceof PerdureError ? error.code : null;
      this.#tell(asked, { ids: [], outcome: isRefusal(error) ? "refused" : "failed", code });
      throw error;
    }
  }

  #tell<Result>(
    { action, target, ids = [] }: AskedChange<Result>,
    ended: Pick<AuditedChange, "ids" | "outcome" | "code">,
  ): void {
    const { onAudit, clock, logger } = this.#parts;
    const { actor } = this;
    const all = [...ids, ...ended.ids].slice(0, MOST_IDS);
    const change = { at: new Date(clock.now()), actor, action, target, ...ended, ids: all };
    callSafely(
      () => onAudit(change),
      (failure) =>
        logger.error("onAudit failed.", { action, name: failure instanceof Error ? failure.name : typeof failure }),
    );
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof InvalidInputError || error instanceof ConflictError || error instanceof NotFoundError;
}
