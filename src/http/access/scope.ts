import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import { type Labels, parseLabels } from "../../workflows/define/labels.ts";
import { forbidden } from "../answers/http-error.ts";

/** The answer of a policy that allows a request within limits. */
export interface Grant {
  /** Anything but `true` denies. */
  readonly allow: boolean;
  /** Names the caller: its idempotency keys and its limits are its own. */
  readonly caller?: string;
  /** Only instances with all of these labels exist for the caller, and those that it creates get them. */
  readonly labels?: Labels;
  /** Whether the caller sees params, outputs, payloads and the messages of errors. Default: true. */
  readonly payloads?: boolean;
}

interface ScopeParts {
  readonly caller: string | null;
  /** Sorted; empty if the caller may see all instances. */
  readonly labels: readonly (readonly [key: string, value: string])[];
  readonly payloads: boolean;
}

const FIELDS = ["allow", "caller", "labels", "payloads"];
const LONGEST_CALLER = 400;
const LONGEST_ACTOR = 255;

/** What a caller may see and do, by the answers of the policy. */
export class Scope {
  /** Names the caller where the policy or a token does. */
  readonly caller: string | null;
  /** Whether it sees users' values. */
  readonly payloads: boolean;
  readonly #labels: ScopeParts["labels"];

  constructor({ caller, labels, payloads }: ScopeParts) {
    this.caller = caller;
    this.payloads = payloads;
    this.#labels = labels;
  }

  /** Throws for a grant that isn't one: a misspelt field must not widen what a caller may do. */
  static of(grant: Grant): Scope {
    checkOptions(grant, { label: "The answer of authorize", fields: FIELDS });
    const missing = Object.entries(grant).find(([, value]) => value === undefined);
    if (missing !== undefined) throw invalid(`${missing[0]} is undefined; leave it out to set no limit`);
    const { caller, labels, payloads = true } = grant;
    const parsed = parseLabels(labels, "options.invalid");
    if (labels !== undefined && parsed.length === 0) throw invalid("labels must have at least one label");
    if (typeof payloads !== "boolean") throw invalid("payloads must be true or false");
    const named = caller === undefined || (typeof caller === "string" && caller !== "");
    if (!named || (caller?.length ?? 0) > LONGEST_CALLER) {
      throw invalid(`caller must be a text of 1 to ${LONGEST_CALLER} characters`);
    }
    return new Scope({ caller: caller ?? null, labels: parsed, payloads });
  }

  /** What both allow. Throws if no instance can have the labels of both. */
  and(other: Scope): Scope {
    const labels = this.filter(Object.fromEntries(other.#labels));
    if (labels === null) throw forbidden();
    return new Scope({
      caller: this.caller ?? other.caller,
      labels: parseLabels(labels, "options.invalid"),
      payloads: this.payloads && other.payloads,
    });
  }

  /** The caller's name as it can be stored and shown; null if it has none. */
  get actor(): string | null {
    return (
      this.caller
        ?.replaceAll(/\p{Cc}/gu, " ")
        .slice(0, LONGEST_ACTOR)
        .toWellFormed() ?? null
    );
  }

  /** Whether it sees only instances with some labels. */
  get narrowed(): boolean {
    return this.#labels.length > 0;
  }

  /** Distinguishes the requests of one caller from those of others; null for callers that the policy doesn't distinguish. */
  get key(): string | null {
    if (this.caller !== null) return JSON.stringify(["caller", this.caller]);
    return this.narrowed ? JSON.stringify(["labels", this.#labels]) : null;
  }

  /** Equal for scopes that allow the same. */
  get text(): string {
    return JSON.stringify([this.caller, this.#labels, this.payloads]);
  }

  /** Whether it sees an instance that has these labels, as they are stored. */
  sees(stored: string | null): boolean {
    if (!this.narrowed) return true;
    const labels = stored === null ? {} : (JSON.parse(stored) as Record<string, unknown>);
    return this.#labels.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
  }

  /** The labels of a filter and its own; null if no instance can have both. */
  filter(labels: Labels = {}): Labels | null {
    const conflict = this.#labels.some(([key, value]) => Object.hasOwn(labels, key) && labels[key] !== value);
    return conflict ? null : { ...labels, ...Object.fromEntries(this.#labels) };
  }

  /** The labels of a new instance, with its own. Throws if the caller gives another value to one of them. */
  labelsOfNew(labels: Labels | undefined): Labels {
    const all = this.filter(labels);
    if (all === null) throw forbidden("The caller isn't allowed to create instances with these labels.");
    return all;
  }
}

/** The scope of a caller whose requests the policy allows without limits. */
export const UNLIMITED: Scope = new Scope({ caller: null, labels: [], payloads: true });

/** The scope of a caller that sees no users' values. */
export const WITHOUT_PAYLOADS: Scope = new Scope({ caller: null, labels: [], payloads: false });

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `The answer of authorize isn't valid: ${problem}.`);
}
