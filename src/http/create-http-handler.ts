import { callSafely } from "../call-safely.ts";
import { InvalidInputError, isStoreClosed, PerdureError } from "../errors.ts";
import { Fragment } from "../fragment/fragment.ts";
import { type AuthorizationQuestion, authorizeRequest } from "./access/authorization.ts";
import { addCorsHeaders, answerPreflight, isPreflight } from "./access/cors.ts";
import { EventStreams } from "./answers/event-stream.ts";
import { HttpError, invalidRequest, toHttpError } from "./answers/http-error.ts";
import {
  type HandlerSettings,
  type HttpErrorContext,
  type HttpHandlerOptions,
  parseHandlerOptions,
} from "./handler-options.ts";
import { HttpHost, type Servable } from "./http-host.ts";
import { boundClones } from "./requests/bounded-clone.ts";
import { type BodyLimits, checkContentType, parseJson, readBody } from "./requests/read-body.ts";
import { checkPathParameters, readQuery } from "./requests/read-parameters.ts";
import { RepeatableRequest, readIdempotencyKey } from "./requests/repeatable-request.ts";
import { createRoutes } from "./routes/index.ts";
import type { Answer, Call, Route } from "./routes/route.ts";
import { type Match, Router } from "./routes/router.ts";
import { validate } from "./schemas/validate.ts";
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

  constructor(app: Servable, settings: HandlerSettings) {
    const { clock } = app.parts.store;
    const { tickDeadlineMs, redact, stackTraces, basePath } = settings;
    this.#settings = settings;
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

  async answer(request: Request): Promise<Response> {
    const { cors } = this.#settings;
    const response = await this.#answer(request);
    const { headers } = response;
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
    headers.set("x-content-type-options", "nosniff");
    if (cors !== null) addCorsHeaders(cors, request, headers);
    return response;
  }

  async #answer(request: Request): Promise<Response> {
    let match: Match | undefined;
    try {
      const { pathname, searchParams } = new URL(request.url);
      if (this.#settings.cors !== null && isPreflight(request)) {
        return answerPreflight(this.#settings.cors, this.#router.methods(pathname));
      }
      match = this.#router.match(request.method, pathname);
      return toResponse(await this.#call(match, request, searchParams));
    } catch (error) {
      const { answer, unexpected } = toHttpError(error);
      if (unexpected) this.#report(error, { request, ...describe(match?.route) });
      return toErrorResponse(answer);
    }
  }

  /** The caller is authorized before any part of the request except its path is read. */
  async #call({ route, params }: Match, request: Request, search: URLSearchParams): Promise<Answer> {
    const resource = route.resource(params);
    const onError = (error: unknown) => this.#report(error, { request, ...describe(route) });
    const clones = boundClones(request, this.#bodyLimits);
    for (const question of this.#isPublic(route) ? [] : questionsOf(route, params)) {
      await authorizeRequest(this.#settings.authorize, { request, ...question }, onError).catch((error: unknown) => {
        throw clones.exceeded() ?? error;
      });
    }
    checkPathParameters(route.params ?? {}, params);
    const query = readQuery(route.query ?? {}, search);
    const idempotencyKey = readIdempotencyKey(route, request.headers);
    const body = await this.#readBody(route, request);
    const call: Call = {
      host: this.#host,
      request,
      params,
      query,
      body,
      repeatable: await this.#repeatable(idempotencyKey, [route.name, params, body]),
      show: this.#host.show(resource),
    };
    return route.handle(call);
  }

  #isPublic({ public: by }: Route): boolean {
    const { authorizeTokens, publicHealth } = this.#settings;
    return (by === "tokens" && !authorizeTokens) || (by === "health" && publicHealth);
  }

  async #repeatable(idempotencyKey: string | null, content: unknown): Promise<RepeatableRequest | null> {
    if (idempotencyKey === null) return null;
    const { store, namespace } = this.#host.parts;
    return RepeatableRequest.of({ requests: store.engine.requests, namespace, idempotencyKey, content });
  }

  async #readBody(route: Route, request: Request): Promise<unknown> {
    if (route.method === "GET") return {};
    const { headers, bodyUsed } = request;
    const announced = Number(headers.get("content-length") ?? 0) > 0 || headers.has("transfer-encoding");
    if (route.method === "POST") checkContentType(request, !announced && !bodyUsed);
    if (bodyUsed || (announced && request.body === null)) throw consumed();
    const text = await readBody(request, this.#bodyLimits);
    if (text === null && Number(headers.get("content-length") ?? 0) > 0) throw consumed();
    if (text !== null && route.method === "POST") checkContentType(request, false);
    const { body: schema = { type: "object", additionalProperties: false }, bodyOptional = route.body === undefined } =
      route;
    if (text === null && bodyOptional) return {};
    if (text === null) throw invalidRequest("This route needs a body.");
    const body = parseJson(text);
    const issues = validate(schema, body, "body");
    if (issues.length > 0)
      throw invalidRequest("The body has fields or values that this route doesn't accept.", issues);
    return body;
  }

  get #bodyLimits(): BodyLimits {
    const { maxBodyBytes: maxBytes, bodyTimeoutMs: timeoutMs } = this.#settings;
    return { maxBytes, timeoutMs, clock: this.#host.parts.store.clock };
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

/** The questions to the policy: two for a route that does two kinds of things. */
function questionsOf(route: Route, params: Match["params"]): readonly Omit<AuthorizationQuestion, "request">[] {
  const { operation, alsoNeeds, resource, alsoAbout = resource } = route;
  const first = { operation, resource: resource(params) };
  return alsoNeeds === undefined ? [first] : [first, { operation: alsoNeeds, resource: alsoAbout(params) }];
}

/** A fault in the server's own code: a body that was read elsewhere can't be read again. */
function consumed(): HttpError {
  return new HttpError(
    500,
    "http.body_consumed",
    "The request has a body, but other code on the server has read it first. Nothing was done. A policy or middleware must read a clone.",
  );
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
