import { type Duration, parseDuration } from "../../duration.ts";
import { checkId, LONGEST_ID } from "../../names.ts";
import { checkOptions, invalidOption } from "../../options.ts";
import type { Labels } from "../../workflows/define/labels.ts";
import { TokenKeys } from "../../workflows/tokens/token-keys.ts";
import { Scope } from "./scope.ts";

/** What an access token can allow. */
export type AccessOperation = "read" | "manage" | "events";

export interface NewAccessToken {
  /** The name under which its instances are stored. */
  readonly workflowName: string;
  readonly instanceId: string;
  /** Default: `["read"]`. */
  readonly operations?: readonly AccessOperation[];
  /** From a second to 30 days. */
  readonly expiresIn: Duration;
  /** The instance must have these labels: it could be deleted, and its id used by another tenant. */
  readonly labels?: Labels;
  /** Whether the holder sees params, outputs, payloads and the messages of errors. Default: true. */
  readonly payloads?: boolean;
  /** The holder, for idempotency keys and limits. Default: one holder for each instance. */
  readonly caller?: string;
}

export interface OpenedAccessToken {
  readonly workflowName: string;
  readonly instanceId: string;
  readonly operations: readonly string[];
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly scope: Scope;
}

type Content = [string, string, readonly string[], number, { labels?: Labels; payloads?: boolean; caller: string }];

const PREFIX = "pat_";
const PURPOSE = "perdure/http access token";
const SHORTEST_SECRET = 32;
const SHORTEST_MS = 1000;
const LONGEST_MS = 30 * 86_400_000;
const OPERATIONS: readonly unknown[] = ["read", "manage", "events"] satisfies AccessOperation[];
const FIELDS = ["workflowName", "instanceId", "operations", "expiresIn", "labels", "payloads", "caller"];

/** Makes the access tokens of an application, and reads them: see `accessTokens`. */
export class AccessTokens {
  readonly #keys: TokenKeys;

  /** @internal */
  constructor(secrets: readonly string[]) {
    this.#keys = new TokenKeys(PURPOSE, secrets);
  }

  /**
   * A token that lets its holder use one instance until it expires.
   *
   * @example
   * const token = await tokens.create({ workflowName: "checkout", instanceId: "order-1", expiresIn: "15 minutes" });
   * new EventSource(`/perdure/workflows/checkout/instances/order-1/subscribe?access_token=${token}`);
   */
  async create(options: NewAccessToken): Promise<string> {
    checkOptions(options, { label: "An access token", fields: FIELDS });
    const { workflowName, instanceId, operations = ["read"], expiresIn, labels, payloads } = options;
    checkId(workflowName, "The name of a workflow", LONGEST_ID);
    checkId(instanceId, "The id of an instance", LONGEST_ID);
    if (!(Array.isArray(operations) && operations.length > 0 && operations.every((one) => OPERATIONS.includes(one)))) {
      throw invalidOption(`operations must be some of ${OPERATIONS.join(", ")}`);
    }
    const lifetimeMs = parseDuration(expiresIn, "expiresIn");
    if (lifetimeMs < SHORTEST_MS || lifetimeMs > LONGEST_MS)
      throw invalidOption("expiresIn must be 1 second to 30 days");
    const caller = options.caller ?? JSON.stringify(["access token", workflowName, instanceId]);
    const scope = {
      caller,
      ...(labels === undefined ? {} : { labels }),
      ...(payloads === undefined ? {} : { payloads }),
    };
    Scope.of({ allow: true, ...scope });
    const content: Content = [workflowName, instanceId, operations, Date.now() + lifetimeMs, scope];
    return PREFIX + (await this.#keys.seal(JSON.stringify(content)));
  }

  /** Null if none of the secrets made it. It may have expired. @internal */
  async open(token: string): Promise<OpenedAccessToken | null> {
    const text = await this.#keys.open(token.slice(PREFIX.length)).catch(() => null);
    if (text === null) return null;
    const [workflowName, instanceId, operations, expiresAt, scope] = JSON.parse(text) as Content;
    return { workflowName, instanceId, operations, expiresAt, scope: Scope.of({ allow: true, ...scope }) };
  }
}

/**
 * Expiring tokens for one instance each, for browsers and other holders that must see no more. Tokens are encrypted and signed
 * with the secret; none is stored. Give several secrets to replace one: the first makes tokens, all read them. Each application
 * needs a secret of its own.
 */
export function accessTokens(options: { readonly secret: string | readonly string[] }): AccessTokens {
  checkOptions(options, { label: "accessTokens", fields: ["secret"] });
  const secrets = Array.isArray(options.secret) ? (options.secret as readonly unknown[]) : [options.secret];
  if (secrets.length > 0 && secrets.every((one) => typeof one === "string" && one.length >= SHORTEST_SECRET)) {
    return new AccessTokens(secrets as string[]);
  }
  throw invalidOption(`secret must be a text of at least ${SHORTEST_SECRET} characters, or several`);
}

const PARAMETER = "access_token";
const CREDENTIALS = /^bearer +(\S+)$/i;

/**
 * The access token of a request, and the request without it: other code that sees the URL must not learn the token. The query
 * may have one only where browsers can't send a header.
 */
export function takeAccessToken(request: Request): { readonly request: Request; readonly token: string | null } {
  const [, bearer = ""] = CREDENTIALS.exec(request.headers.get("authorization") ?? "") ?? [];
  const token = bearer.startsWith(PREFIX) ? bearer : null;
  if (request.method !== "GET" || !request.url.includes(`${PARAMETER}=`)) return { request, token };
  const url = new URL(request.url);
  const given = url.searchParams.getAll(PARAMETER);
  if (given.length === 0) return { request, token };
  url.searchParams.delete(PARAMETER);
  return { request: new Request(url, request), token: given.length > 1 ? "" : (given[0] as string) };
}
