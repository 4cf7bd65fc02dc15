import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import { HttpError, internal } from "../answers/http-error.ts";

/**
 * The kind of thing that a request does.
 *
 * - `read`: look at something
 * - `create`: create instances
 * - `manage`: pause, resume, terminate, restart, retry, delete instances
 * - `events`: send events to instances
 * - `operate`: redrive, discard and cancel hooks, release subjects and make them due, pause and run schedules
 * - `tick`: have the process run what is due
 */
export type HttpOperation = "read" | "create" | "manage" | "events" | "operate" | "tick";

/** The target of a request. Names are as the caller wrote them: it isn't known yet whether they exist. */
export type HttpResource =
  | { readonly kind: "application" }
  | { readonly kind: "workflow"; readonly workflowName: string }
  | { readonly kind: "instance"; readonly workflowName: string; readonly instanceId: string }
  | { readonly kind: "hooks" }
  | { readonly kind: "hook"; readonly hookId: string }
  | { readonly kind: "subjects"; readonly dispatcherId: string }
  | { readonly kind: "subject"; readonly dispatcherId: string; readonly subjectKey: string }
  | { readonly kind: "schedules" }
  | { readonly kind: "schedule"; readonly workflowName: string; readonly scheduleName: string };

export interface AuthorizationQuestion {
  /** The request as it arrived. Don't read its body; read a clone of the request instead. */
  readonly request: Request;
  readonly operation: HttpOperation;
  readonly resource: HttpResource;
}

/** `true` allows the request, `"unauthenticated"` answers 401, and anything else answers 403. */
export type AuthorizationAnswer = boolean | "unauthenticated";

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

/** Throws the error for a request that isn't allowed. A policy that throws denies, and only `onError` receives its error. */
export async function authorizeRequest(
  authorize: Authorize,
  question: AuthorizationQuestion,
  onError: (error: unknown) => void,
): Promise<void> {
  const policy = typeof authorize === "function" ? authorize : authorize[question.operation];
  let answer: unknown = false;
  try {
    answer = await policy?.(question);
  } catch (error) {
    onError(error);
    throw internal();
  }
  if (answer === true) return;
  if (answer === "unauthenticated") {
    throw new HttpError(401, "http.unauthenticated", "The request needs valid credentials.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
  throw new HttpError(403, "http.forbidden", "The caller isn't allowed to do this.");
}
