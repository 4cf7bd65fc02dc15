import type { Access } from "../access/access.ts";
import type { HttpOperation, HttpResource } from "../access/authorization.ts";
import type { RequestDetails } from "../access/request-details.ts";
import type { Scope } from "../access/scope.ts";
import type { ShowValue } from "../answers/redaction.ts";
import type { HttpHost } from "../http-host.ts";
import type { RepeatableRequest } from "../requests/repeatable-request.ts";
import type { FromSchema, Schema } from "../schemas/schema.ts";

export type Method = "GET" | "POST" | "DELETE";

/** One kind of answer. */
export interface AnswerDefinition {
  readonly description: string;
  /** None where the answer has no body. */
  readonly schema?: Schema;
  /** Default: JSON. */
  readonly contentType?: "text/event-stream";
  /** Types of texts that callers can have instead. */
  readonly texts?: readonly string[];
}

/** A checked request. */
export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly host: HttpHost;
  readonly request: Request;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Gives users' values the form in which the caller may see them. */
  readonly show: ShowValue;
  /** Set if the request has an `Idempotency-Key`. */
  readonly repeatable: RepeatableRequest | null;
  /** What the caller may see and do. */
  readonly scope: Scope;
  /** For routes whose answers take long. */
  readonly access: Access;
}

/** An answer in JSON, or one that is ready to be sent. */
export type Answer = { readonly status: number; readonly body?: unknown } | Response;

type Fields = Readonly<Record<string, Schema>>;
type ValuesOf<Accepted extends Fields> = { readonly [Name in keyof Accepted]: FromSchema<Accepted[Name]> };
type SomeOf<Accepted extends Fields> = { readonly [Name in keyof Accepted]?: FromSchema<Accepted[Name]> };

/** Everything about a route: the checks, the answers and the OpenAPI document come from here. */
export interface RouteDefinition<Params extends Fields, Query extends Fields, Body extends Schema> {
  readonly method: Method;
  /** With a name in braces for each of `params`: `/hooks/{hookId}`. */
  readonly path: string;
  /** Names the route in the OpenAPI document. */
  readonly name: string;
  readonly summary: string;
  readonly operation: HttpOperation;
  /** The setting of the handler by which it needs no authorization: see `authorizeTokens` and `publicHealth`. */
  readonly public?: "tokens" | "health";
  /** False for a change that loses nothing that is stored, and ends no work. Other changes are presented as ones that could. */
  readonly destructive?: false;
  /** Another permission, of a route that does two kinds of things. */
  readonly alsoNeeds?: HttpOperation;
  readonly resource: (params: Readonly<Record<keyof Params, string>>) => HttpResource;
  /** The resource of that other permission. Default: the same. */
  readonly alsoAbout?: (params: Readonly<Record<keyof Params, string>>) => HttpResource;
  readonly params?: Params;
  /**
   * What a caller gets that may see only instances with some labels: `onlyTheirs`, what is about these, or `theSame` as other
   * callers, for what is about no instance. Default: it is refused.
   */
  readonly forNarrowed?: "onlyTheirs" | "theSame";
  /** What the policy learns about a request's query and body. Default: nothing. */
  readonly details?: (sent: {
    readonly params: ValuesOf<Params>;
    readonly query: SomeOf<Query>;
    readonly body: FromSchema<Body>;
  }) => Partial<RequestDetails>;
  /** All of them may be left out. */
  readonly query?: Query;
  /** Headers that it reads, for the document. */
  readonly headers?: Fields;
  /** Only requests that change something have one. */
  readonly body?: Body;
  /** Whether a request without a body is the same as one with an empty object. */
  readonly bodyOptional?: boolean;
  /** Whether an `Idempotency-Key` makes it repeatable. */
  readonly repeatable?: boolean;
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /** False if it answers without the database. */
  readonly asksDatabase?: boolean;
  /** Statuses of errors in addition to those that every route has. */
  readonly errors?: readonly number[];
  handle(call: Call<ValuesOf<Params>, SomeOf<Query>, FromSchema<Body>>): Promise<Answer>;
}

/** Any route. */
export type Route = Omit<RouteDefinition<Fields, Fields, Schema>, "handle" | "resource" | "alsoAbout" | "details"> & {
  readonly details?: (sent: Pick<Call, "params" | "query" | "body">) => Partial<RequestDetails>;
  readonly resource: (params: Readonly<Record<string, string>>) => HttpResource;
  readonly alsoAbout?: (params: Readonly<Record<string, string>>) => HttpResource;
  readonly handle: (call: Call) => Promise<Answer>;
};

export function defineRoute<
  const Params extends Fields = Record<never, never>,
  const Query extends Fields = Record<never, never>,
  const Body extends Schema = Record<never, never>,
>(definition: RouteDefinition<Params, Query, Body>): Route {
  return definition as unknown as Route; // requests are checked against the definition before `handle` is called
}
