import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import { HttpError, internal } from "../answers/http-error.ts";

/**
 * What a request is about to do.
 *
 * - `read`: look at something
 * - `create`: create instances
 * - `manage`: pause, resume, terminate, restart, retry, delete instances
 * - `events`: send events to instances
 * - `operate`: redrive, discard and cancel hooks, release subjects and make them due, pause and run schedules
 * - `tick`: have the process run what is due
 */
export type HttpOperation = "read" | "create" | "manage" | "events" | "operate" | "tick";

/** What a request is about. Names are as the caller wrote them: whether there is such a thing isn't known yet. */
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
  /** As it came in. Its body isn't to be read; to look at it, read a clone of the request. */
  readonly request: Request;
  readonly operation: HttpOperation;
  readonly resource: HttpResource;
}

/** `true` allows it, `"unauthenticated"` answers 401, and everything else 403. */
export type AuthorizationAnswer = boolean | "unauthenticated";

export type Policy = (question: AuthorizationQuestion) => AuthorizationAnswer | Promise<AuthorizationAnswer>;

/** One policy for everything, or one for each operation; an operation that has none is denied. */
export type Authorize = Policy | Partial<Readonly<Record<HttpOperation, Policy>>>;

const OPERATIONS: readonly HttpOperation[] = ["read", "create", "manage", "events", "operate", "tick"];

/** Found out at once, and not by the first request. */
export function checkAuthorize(authorize: unknown): Authorize {
  if (typeof authorize === "function") return authorize as Policy;
  if (authorize === undefined || authorize === null) {
    throw new InvalidInputError(
      "options.invalid",
      "createHttpHandler needs authorize: a function that says who may do what, or one for each operation.",
    );
  }
  checkOptions(authorize, { label: "authorize", fields: OPERATIONS });
  const policies = Object.entries(authorize);
  const wrong = policies.find(([, policy]) => typeof policy !== "function");
  if (wrong === undefined) return authorize as Authorize;
  throw new InvalidInputError("options.invalid", `authorize.${wrong[0]} must be a function.`);
}

/** Throws what a request is refused with. A policy that throws denies, and only `onError` hears why. */
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
    throw new HttpError(401, "http.unauthenticated", "Say who you are, with credentials that are valid here.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
  throw new HttpError(403, "http.forbidden", "You may not do this.");
}
