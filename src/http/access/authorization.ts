import { InvalidInputError } from "../../errors.ts";
import type { AuditTarget } from "../../monitoring/audit.ts";
import { checkOptions } from "../../options.ts";
import { forbidden, internal, unauthenticated } from "../answers/http-error.ts";
import { NO_DETAILS, type RequestDetails } from "./request-details.ts";
import { type Grant, Scope, UNLIMITED } from "./scope.ts";

/**
 * The kind of thing that a request does.
 *
 * - `read`: look at something
 * - `create`: create instances
 * - `manage`: pause, resume, terminate, restart, retry, delete instances
 * - `events`: send events to instances
 * - `operate`: redrive, discard and cancel hooks, release subjects and make them due, pause and run schedules
 * - `tick`: have the process run due work
 */
export type HttpOperation = "read" | "create" | "manage" | "events" | "operate" | "tick";

/** The target of a request. Names are as the caller wrote them: it isn't known yet whether they exist. */
export type HttpResource = AuditTarget;

export interface AuthorizationQuestion {
  /** The request as it arrived. Don't read its body; read a clone of the request instead. */
  readonly request: Request;
  readonly operation: HttpOperation;
  readonly resource: HttpResource;
  /**
   * The instances, the filter, the event and the hooks that the request names in its query or its body. Reads the body: call it
   * only once you know the caller. A request that isn't valid is refused with its own error.
   */
  details(): Promise<RequestDetails>;
}

/** `true` allows the request, a `Grant` within limits, `"unauthenticated"` answers 401, and anything else answers 403. */
export type AuthorizationAnswer = boolean | "unauthenticated" | Grant;

/** A question whose details may be of no interest. */
export type AskedQuestion = Omit<AuthorizationQuestion, "details"> & Partial<Pick<AuthorizationQuestion, "details">>;

export type Policy = (question: AuthorizationQuestion) => AuthorizationAnswer | Promise<AuthorizationAnswer>;

/** One policy for everything, or one for each operation; an operation that has none is denied. */
export type Authorize = Policy | Partial<Readonly<Record<HttpOperation, Policy>>>;

const OPERATIONS: readonly HttpOperation[] = ["read", "create", "manage", "events", "operate", "tick"];

/** Checks at once, rather than at the first request. */
export function checkAuthorize(authorize: unknown, label: string = "createHttpHandler"): Authorize {
  if (typeof authorize === "function") return authorize as Policy;
  if (authorize === undefined || authorize === null) {
    throw new InvalidInputError(
      "options.invalid",
      `${label} needs authorize: a function that decides which requests are allowed, or one function for each operation.`,
    );
  }
  checkOptions(authorize, { label: "authorize", fields: OPERATIONS });
  const policies = Object.entries(authorize);
  const wrong = policies.find(([, policy]) => typeof policy !== "function");
  if (wrong === undefined) return authorize as Authorize;
  throw new InvalidInputError("options.invalid", `authorize.${wrong[0]} must be a function.`);
}

/**
 * What the caller may see and do. Throws the error for a request that isn't allowed. A policy that throws denies, and only
 * `onError` receives its error.
 */
export async function authorizeRequest(
  authorize: Authorize,
  question: AskedQuestion,
  onError: (error: unknown) => void,
): Promise<Scope> {
  const policy = typeof authorize === "function" ? authorize : authorize[question.operation];
  let answer: unknown = false;
  try {
    answer = await policy?.({ details: async () => NO_DETAILS, ...question });
    if (isGrant(answer)) return Scope.of(answer);
  } catch (error) {
    onError(error);
    throw internal();
  }
  if (answer === true) return UNLIMITED;
  throw answer === "unauthenticated" ? unauthenticated() : forbidden();
}

function isGrant(answer: unknown): answer is Grant {
  return typeof answer === "object" && answer !== null && "allow" in answer && answer.allow === true;
}
