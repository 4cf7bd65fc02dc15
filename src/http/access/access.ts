import type { Clock } from "../../clock.ts";
import { forbidden, HttpError, invalidRequest, unauthenticated } from "../answers/http-error.ts";
import type { OpenedAccessToken } from "./access-tokens.ts";
import {
  type AuthorizationQuestion,
  type Authorize,
  authorizeRequest,
  type HttpOperation,
  type HttpResource,
} from "./authorization.ts";
import { type Scope, UNLIMITED, WITHOUT_PAYLOADS } from "./scope.ts";

/** What lets a request in: the scope of its caller, and for how long. */
export interface Access {
  readonly scope: Scope;
  /** When a token expires, in milliseconds since the epoch; null without. */
  readonly expiresAt: number | null;
  /** Whether the caller would be let in again now, with the same scope. Never rejects. */
  stillAllowed(): Promise<boolean>;
  /** For a request whose body says that it needs another permission. Throws if it isn't allowed. */
  alsoAllows(operation: HttpOperation): Promise<Scope>;
}

type Question = Omit<AuthorizationQuestion, "request" | "details">;

type Params = Readonly<Record<string, string>>;

/** A route, as far as it decides who is let in. */
interface GuardedRoute {
  readonly operation: HttpOperation;
  readonly alsoNeeds?: HttpOperation;
  readonly resource: (params: Params) => HttpResource;
  readonly alsoAbout?: (params: Params) => HttpResource;
  readonly forNarrowed?: "onlyTheirs" | "theSame";
}

/** The questions to the policy: two for a route that does two kinds of things. */
export function questionsOf(route: GuardedRoute, params: Params): readonly Question[] {
  const { operation, alsoNeeds, resource, alsoAbout = resource } = route;
  const first = { operation, resource: resource(params) };
  return alsoNeeds === undefined ? [first] : [first, { operation: alsoNeeds, resource: alsoAbout(params) }];
}

/** Of a request that needs no authorization. */
export const PUBLIC_ACCESS: Access = {
  scope: UNLIMITED,
  expiresAt: null,
  stillAllowed: async () => true,
  alsoAllows: async () => UNLIMITED,
};

interface PolicyCheck extends Pick<AuthorizationQuestion, "request" | "details"> {
  readonly authorize: Authorize;
  readonly onError: (error: unknown) => void;
}

/** Throws the error for a request that the policy doesn't allow. */
export async function accessByPolicy(questions: readonly Question[], check: PolicyCheck): Promise<Access> {
  const { authorize, request, details, onError } = check;
  const ask = async () => {
    let scope = UNLIMITED;
    for (const question of questions) {
      scope = scope.and(await authorizeRequest(authorize, { request, details, ...question }, onError));
    }
    return scope;
  };
  const scope = await ask();
  const stillAllowed = () =>
    ask().then(
      ({ text }) => text === scope.text,
      () => false,
    );
  const alsoAllows = (operation: HttpOperation) =>
    authorizeRequest(authorize, { request, details, ...(questions[0] as Question), operation }, onError);
  return { scope, expiresAt: null, stillAllowed, alsoAllows };
}

/** Throws the error for a request that its token doesn't allow. A token is never asked for more than one instance. */
export function accessByToken(questions: readonly Question[], token: OpenedAccessToken | null, clock: Clock): Access {
  if (token === null) throw unauthenticated("The access token isn't one of this application.");
  const { workflowName, instanceId, operations, expiresAt, scope } = token;
  if (clock.now() >= expiresAt) {
    throw new HttpError(401, "http.token_expired", "The access token has expired.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
  const covered = questions.every(({ operation, resource }) => {
    const same =
      resource.kind === "instance" && resource.workflowName === workflowName && resource.instanceId === instanceId;
    return same && operations.includes(operation);
  });
  if (!covered) throw forbidden("The access token doesn't allow this.");
  const alsoAllows = async () => {
    throw forbidden("The access token doesn't allow this.");
  };
  return { scope, expiresAt, stillAllowed: async () => true, alsoAllows };
}

/**
 * By this header, a caller that may see users' values asks not to get them, such as a program that passes answers on. The
 * answer has it too: so the caller can tell that the server knows it.
 */
export const PAYLOADS_HEADER = "perdure-payloads";
export const HIDDEN = "hidden";

export function withChosenPayloads(access: Access, headers: Headers): Access {
  const chosen = headers.get(PAYLOADS_HEADER);
  if (chosen === null) return access;
  if (chosen !== HIDDEN) throw invalidRequest(`The header ${PAYLOADS_HEADER} can only be ${HIDDEN}.`);
  return { ...access, scope: access.scope.and(WITHOUT_PAYLOADS) };
}

/** Throws the error for a caller that sees only some instances, if a route can't keep to them. */
export function checkNarrowing({ forNarrowed }: GuardedRoute, { narrowed }: Scope): void {
  if (!narrowed || forNarrowed !== undefined) return;
  throw forbidden("This concerns more than the instances that the caller is allowed to see.");
}
