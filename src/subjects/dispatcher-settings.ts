import type { StandardSchemaV1 } from "@standard-schema/spec";
import { checkName, checkText } from "../hooks/names.ts";
import { checkOptions } from "../options.ts";
import { parseRetries, type RetryOptions, type RetryPolicy, resolveRetries } from "../queue/retry-policy.ts";
import { isStandardSchema } from "../schema.ts";
import { invalid } from "./subject-inputs.ts";

/** The schemas of one dispatcher's subjects, and when a failed one is tried again. */
export interface SubjectSettings<Cursor = unknown, Meta = unknown> {
  /** A Standard Schema for cursors. Its output is stored, so it must accept its own output. */
  readonly cursor?: StandardSchemaV1<unknown, Cursor>;
  /** The same for `meta`. */
  readonly meta?: StandardSchemaV1<unknown, Meta>;
  /** When a failed subject is due again by default. Default: exponential from 30 seconds to an hour, with jitter. */
  readonly retries?: SubjectRetries;
}

/** A subject is never given up, so there is no limit. */
export type SubjectRetries = Omit<RetryOptions, "limit">;

export interface ParsedSettings {
  readonly cursor: StandardSchemaV1 | null;
  readonly meta: StandardSchemaV1 | null;
  readonly retries: RetryPolicy;
}

export const SETTINGS_FIELDS: readonly string[] = ["cursor", "meta", "retries"];

const RETRY_FIELDS = ["delay", "backoff", "maxDelay"];
const DEFAULT_DELAY_MS = 30_000;
const DEFAULT_MAX_DELAY_MS = 3_600_000;

export function parseSettings(settings: SubjectSettings): ParsedSettings {
  return {
    cursor: checkSchema(settings.cursor, "cursor"),
    meta: checkSchema(settings.meta, "meta"),
    retries: parseSubjectRetries(settings.retries),
  };
}

export function checkProfile(value: unknown): string {
  return checkText(value, "A profile", 100);
}

export function checkDispatcherId(value: unknown): string {
  return checkName(value, "A dispatcherId");
}

function parseSubjectRetries(retries: SubjectRetries | undefined): RetryPolicy {
  if (retries !== undefined) checkOptions(retries, { label: "retries", fields: RETRY_FIELDS, code: "retries.invalid" });
  const { delay = DEFAULT_DELAY_MS, ...others } = parseRetries(retries, "retries");
  return resolveRetries({ delay, maxDelay: Math.max(DEFAULT_MAX_DELAY_MS, delay), ...others });
}

function checkSchema(schema: unknown, label: string): StandardSchemaV1 | null {
  if (schema === undefined) return null;
  if (isStandardSchema(schema)) return schema;
  throw invalid(`${label} must be a Standard Schema (of Zod, Valibot, ArkType, …)`);
}
