import { callSafely } from "../../call-safely.ts";
import type { AuditedChange } from "../../monitoring/audit.ts";
import type { Answer } from "../routes/route.ts";
import type { Match } from "../routes/router.ts";
import type { HttpOperation } from "./authorization.ts";

/**
 * A request to change something, and its outcome. `actor` is the caller, as `authorize` or an access token names it; null if it
 * names none, or if it refused. `target` is the resource in the request's path.
 */
export interface AuditEntry extends AuditedChange {
  readonly operation: HttpOperation;
  /** Of the answer. */
  readonly status: number;
}

/** Receives an entry for each request that was to change something, after its answer is known. It may throw without harm. */
export type OnAudit = (entry: AuditEntry) => unknown;

/** What was learned of a request before it was answered. */
export interface AuditedRequest {
  match?: Match;
  caller?: string | null;
  body?: unknown;
}

interface AuditedAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly body?: unknown;
  readonly at: number;
}

const MOST_IDS = 1000;

/** Ticks run work that is due anyway, so they aren't changes of an operator's. */
export function tellAudit(
  listeners: Iterable<OnAudit>,
  { match, caller = null, body }: AuditedRequest,
  { status, code, at, body: answered }: AuditedAnswer,
  onFailure: (error: unknown) => void,
): void {
  if (match === undefined || match.route.method === "GET" || match.route.operation === "tick") return;
  const { route, params } = match;
  const named = idsIn(body);
  const entry: AuditEntry = {
    at: new Date(at),
    actor: caller,
    action: route.name,
    operation: route.operation,
    target: route.resource(params),
    ids: (named.length > 0 ? named : idsIn(answered)).slice(0, MOST_IDS),
    outcome: status < 400 ? "done" : status < 500 ? "refused" : "failed",
    status,
    code,
  };
  for (const listener of listeners) callSafely(() => listener(entry), onFailure);
}

/** What an answer says of itself; a stream says nothing. */
export function auditedAnswer(answer: Answer): Pick<AuditedAnswer, "status" | "body"> {
  return { status: answer.status, body: answer instanceof Response ? undefined : answer.body };
}

/** `{ id }`, `{ ids }`, or the ids of `{ instances }` and of `{ created }`. */
function idsIn(body: unknown): readonly string[] {
  const { id, ids, instances, created } = Object(body) as Readonly<Record<string, unknown>>;
  if (typeof id === "string") return [id];
  if (Array.isArray(ids)) return ids.filter((one) => typeof one === "string");
  const items = Array.isArray(instances) ? instances : Array.isArray(created) ? created : [];
  return items.flatMap((item) => {
    const one = (Object(item) as { readonly id?: unknown }).id;
    return typeof one === "string" ? [one] : [];
  });
}
