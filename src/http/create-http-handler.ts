import { callSafely } from "../call-safely.ts";
import { InvalidInputError, isStoreClosed, PerdureError } from "../errors.ts";
import { Fragment } from "../fragment/fragment.ts";
import {
  type Access,
  accessByPolicy,
  accessByToken,
  checkNarrowing,
  HIDDEN,
  PAYLOADS_HEADER,
  PUBLIC_ACCESS,
  questionsOf,
  withChosenPayloads,
} from "./access/access.ts";
import { takeAccessToken } from "./access/access-tokens.ts";
import { type AuditedRequest, auditedAnswer, type OnAudit, tellAudit } from "./access/audit.ts";
import { CallerLimits } from "./access/caller-limits.ts";
import { addCorsHeaders, answerPreflight, isPreflight } from "./access/cors.ts";
import type { Scope } from "./access/scope.ts";
import { EventStreams } from "./answers/event-stream.ts";
import { type HttpError, toHttpError } from "./answers/http-error.ts";
import {
  type HandlerSettings,
  type HttpErrorContext,
  type HttpHandlerOptions,
  parseHandlerOptions,
} from "./handler-options.ts";
import { HttpHost, type Servable } from "./http-host.ts";
import { IncomingCall } from "./requests/incoming-call.ts";
import type { BodyLimits } from "./requests/read-body.ts";
import { RepeatableRequest, readIdempotencyKey } from "./requests/repeatable-request.ts";
import { createRoutes } from "./routes/index.ts";
import type { Answer, Call, Route } from "./routes/route.ts";
import { type Match, Router } from "./routes/router.ts";
import { Ticker } from "./tick.ts";

/** Answers a request. Never rejects. */
export type HttpHandler = (request: Request) => Promise<Response>;

/**
 * Serves an application or a fragment over HTTP, on any server that uses the Web's `Request` and `Response`.
 *
 * @example
 * const handler = createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) });
 */
export function createHttpHandler(app: Servable, options: HttpHandlerOptions): HttpHandler {
  if (typeof app !== "object" || app?.parts?.store === undefined) {
    throw new InvalidInputError(
      "options.invalid",
      "createHttpHandler takes an application made by perdure(), or a fragment.",
    );
  }
  const server = new HttpServer(app, parseHandlerOptions(options));
  return (request) => server.answer(request);
}

class HttpServer {
  readonly #settings: HandlerSettings;
  readonly #host: HttpHost;
  readonly #router: Router;
  readonly #limits: CallerLimits;
  /** The application's own `onAudit`. */
  readonly #applicationsAudit: OnAudit | null;

  constructor(app: Servable, settings: HandlerSettings) {
    const { clock } = app.parts.store;
    const { tickDeadlineMs, redact, stackTraces, basePath } = settings;
    this.#settings = settings;
    this.#applicationsAudit = app.audit?.onAudit ?? null;
    this.#limits = new CallerLimits(settings.maxRequestsPerCaller, "http.too_many_requests", "requests under way");
    const onError = (error: unknown) => {
      if (toHttpError(error).unexpected && !isStoreClosed(error)) this.#log(error, "subscribe");
    };
    this.#host = new HttpHost({
      app,
      redact,
      stackTraces,
      streams: new EventStreams({ ...settings, clock, onError }),
      ticker:
        tickDeadlineMs === null ? null : new Ticker(new Fragment(app.parts), app.subjects ?? null, tickDeadlineMs),
    });
    this.#router = new Router(basePath, createRoutes({ basePath, tick: tickDeadlineMs !== null }));
  }

  async answer(sent: Request): Promise<Response> {
    const { cors } = this.#settings;
    const { request, token } = takeAccessToken(sent);
    const response = await this.#answer(request, token);
    const { headers } = response;
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
    headers.set("x-content-type-options", "nosniff");
    if (request.headers.get(PAYLOADS_HEADER) === HIDDEN) headers.set(PAYLOADS_HEADER, HIDDEN);
    if (cors !== null) addCorsHeaders(cors, request, headers);
    return response;
  }

  async #answer(request: Request, token: string | null): Promise<Response> {
    const audited: AuditedRequest = {};
    try {
      const { pathname, searchParams } = new URL(request.url);
      if (this.#settings.cors !== null && isPreflight(request)) {
        return answerPreflight(this.#settings.cors, this.#router.methods(pathname));
      }
      const match = this.#router.match(request.method, pathname);
      audited.match = match;
      const incoming = new IncomingCall(match, request, searchParams, this.#bodyLimits);
      const answer = await this.#call(match, incoming, token, audited);
      this.#tellAudit(audited, { ...auditedAnswer(answer), code: null });
      return toResponse(answer);
    } catch (error) {
      const { answer, unexpected } = toHttpError(error);
      this.#tellAudit(audited, answer);
      if (unexpected) this.#report(error, { request, ...describe(audited.match?.route) });
      return toErrorResponse(answer);
    }
  }

  /** The caller is authorized before any part of the request except its path is read, unless the policy asks for details. */
  async #call(
    { route, params }: Match,
    incoming: IncomingCall,
    token: string | null,
    audited: AuditedRequest,
  ): Promise<Answer> {
    const access = withChosenPayloads(await this.#authorize(route, incoming, token), incoming.request.headers);
    const { scope } = access;
    audited.caller = scope.caller;
    checkNarrowing(route, scope);
    const leave = this.#limits.enter(scope.key);
    try {
      const query = incoming.query();
      const idempotencyKey = readIdempotencyKey(route, incoming.request.headers);
      const body = await incoming.body();
      audited.body = body;
      const call: Call = {
        host: this.#host,
        request: incoming.request,
        params,
        query,
        body,
        repeatable: await this.#repeatable(idempotencyKey, scope, [route.name, params, body]),
        show: this.#host.show(route.resource(params), scope),
        scope,
        access,
      };
      return await route.handle(call);
    } finally {
      leave();
    }
  }

  async #authorize(route: Route, incoming: IncomingCall, token: string | null): Promise<Access> {
    if (this.#isPublic(route)) return PUBLIC_ACCESS;
    const { authorize, accessTokens } = this.#settings;
    const { request, params } = incoming;
    const questions = questionsOf(route, params);
    if (token !== null) {
      return accessByToken(questions, (await accessTokens?.open(token)) ?? null, this.#host.parts.store.clock);
    }
    const onError = (error: unknown) => {
      if (!incoming.isRefusal(error)) this.#report(error, { request, ...describe(route) });
    };
    return incoming.withClones(accessByPolicy(questions, { authorize, request, details: incoming.details, onError }));
  }

  #isPublic({ public: by }: Route): boolean {
    const { authorizeTokens, publicHealth } = this.#settings;
    return (by === "tokens" && !authorizeTokens) || (by === "health" && publicHealth);
  }

  async #repeatable(idempotencyKey: string | null, scope: Scope, content: unknown): Promise<RepeatableRequest | null> {
    if (idempotencyKey === null) return null;
    const { store, namespace } = this.#host.parts;
    return RepeatableRequest.of({ requests: store.engine.requests, namespace, idempotencyKey, scope, content });
  }

  get #bodyLimits(): BodyLimits {
    const { maxBodyBytes: maxBytes, bodyTimeoutMs: timeoutMs } = this.#settings;
    return { maxBytes, timeoutMs, clock: this.#host.parts.store.clock };
  }

  #tellAudit(
    audited: AuditedRequest,
    { status, code, body }: Pick<HttpError, "status"> & { readonly code: string | null; readonly body?: unknown },
  ): void {
    const { onAudit } = this.#settings;
    const listeners = new Set([onAudit, this.#applicationsAudit].filter((listener) => listener !== null));
    if (listeners.size === 0) return;
    const at = this.#host.parts.store.clock.now();
    tellAudit(listeners, audited, { status, code, body, at }, (failure) =>
      this.#log(failure, audited.match?.route.name ?? null),
    );
  }

  #report(error: unknown, context: HttpErrorContext): void {
    const { onError } = this.#settings;
    if (onError === null) {
      this.#log(error, context.route);
      return;
    }
    callSafely(
      () => onError(error, context),
      (failure) => this.#log(failure, context.route),
    );
  }

  /** Messages may contain users' values, so they aren't logged. */
  #log(error: unknown, route: string | null): void {
    const logger = this.#settings.logger ?? this.#host.parts.store.logger;
    const name = error instanceof Error ? error.name : typeof error;
    const code = error instanceof PerdureError ? error.code : null;
    logger.error("A request could not be answered.", { route, name, code });
  }
}

function describe(route: Route | undefined): Omit<HttpErrorContext, "request"> {
  return { route: route?.name ?? null, operation: route?.operation ?? null };
}

function toResponse(answer: Answer): Response {
  if (answer instanceof Response) return answer;
  const { status, body } = answer;
  return body === undefined ? new Response(null, { status }) : json(status, body);
}

function toErrorResponse({ status, code, message, details, headers }: HttpError): Response {
  return json(status, { code, message, ...(details === undefined ? {} : { details }) }, headers);
}

function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { ...headers, "content-type": "application/json" } });
}
