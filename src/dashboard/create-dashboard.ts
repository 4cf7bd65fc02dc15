import { callSafely } from "../call-safely.ts";
import { authorizeRequest, type HttpOperation, type Policy } from "../http/access/authorization.ts";
import type { Scope } from "../http/access/scope.ts";
import { toHttpError } from "../http/answers/http-error.ts";
import { createHttpHandler, type HttpHandler } from "../http/create-http-handler.ts";
import type { Servable } from "../http/http-host.ts";
import type { Logger } from "../logger.ts";
import { VERSION } from "../version.ts";
import { protect, refusal, textAnswer } from "./answers.ts";
import { ChangeStream } from "./change-stream.ts";
import { type DashboardOptions, type DashboardSettings, parseDashboardOptions } from "./dashboard-options.ts";
import { PageFiles } from "./page-files.ts";
import { RequestGate } from "./request-gate.ts";

/** Browsers let only pages of the same origin send it without asking first, and the dashboard never answers that question. */
const HEADER = "perdure-dashboard";
const APPLICATION = { kind: "application" } as const;
const OPERATIONS = ["read", "create", "manage", "events", "operate"] as const satisfies readonly HttpOperation[];

/**
 * A web page on which operators see hooks, workflows, subjects, schedules and workers, and act on them. One handler serves the
 * page, its files and the part of the HTTP API that it uses, below `basePath`.
 *
 * @example
 * const dashboard = createDashboard(app, { basePath: "/ops", authorize: ({ request }) => isOperator(request) });
 */
export function createDashboard(app: Servable, options: DashboardOptions): HttpHandler {
  const dashboard = new Dashboard(app, parseDashboardOptions(options));
  return async (request) => protect(await dashboard.answer(request));
}

class Dashboard {
  readonly #settings: DashboardSettings;
  readonly #files: PageFiles;
  readonly #gate: RequestGate;
  readonly #changes: ChangeStream;
  readonly #logger: Logger;
  /** The API with users' values, and without. */
  readonly #open: HttpHandler;
  readonly #redacted: HttpHandler;

  constructor(app: Servable, settings: DashboardSettings) {
    const { basePath, reporting, redact, timeoutMs } = settings;
    this.#settings = settings;
    this.#files = new PageFiles(basePath);
    const common = {
      ...reporting,
      basePath: `${basePath}/api`,
      authorize: this.#allowed,
      authorizeTokens: true,
      stackTraces: true,
    };
    this.#open = createHttpHandler(app, { ...common, redact });
    this.#redacted = createHttpHandler(app, { ...common, redact: true });
    const { clock, work, logger } = app.parts.store;
    this.#logger = logger;
    this.#gate = new RequestGate(clock, timeoutMs);
    this.#changes = new ChangeStream({ work, clock, onError: () => {} });
  }

  async answer(request: Request): Promise<Response> {
    const { basePath } = this.#settings;
    const { pathname } = new URL(request.url);
    try {
      if (pathname.startsWith(`${basePath}/api/`)) return await this.#answerApi(request);
      if (request.method !== "GET" && request.method !== "HEAD") {
        return refusal(405, "http.method_not_allowed", "This path takes GET.");
      }
      const question = { request, operation: "read", resource: APPLICATION } as const;
      const scope = await authorizeRequest(this.#allowed, question, this.#report(request));
      if (pathname === basePath) return new Response(null, { status: 308, headers: { location: `${basePath}/` } });
      if (!pathname.startsWith(`${basePath}/`)) return textAnswer(404, `The dashboard is mounted at ${basePath}/.`);
      if (pathname === `${basePath}/session`) return Response.json(await this.#session(request, scope));
      if (pathname === `${basePath}/changes`) return await this.#changes.answer(request);
      const [, asset] = pathname.slice(basePath.length).match(/^\/assets\/([^/]+)$/) ?? [];
      if (asset === undefined) return await this.#files.document(request);
      return (await this.#files.asset(request, asset)) ?? textAnswer(404, "There is no such file.");
    } catch (error) {
      const { answer } = toHttpError(error);
      if (pathname === `${basePath}/session`) return refusal(answer.status, answer.code, answer.message);
      const response = textAnswer(answer.status, answer.message);
      for (const [name, value] of Object.entries(answer.headers)) response.headers.set(name, value);
      return response;
    }
  }

  async #answerApi(request: Request): Promise<Response> {
    if (request.method !== "GET" && !isOwn(request)) {
      return refusal(
        403,
        "dashboard.cross_site",
        `The request must have the header ${HEADER}, and come from the dashboard.`,
      );
    }
    const handler = (await this.#seesPayloads(request)) ? this.#open : this.#redacted;
    return this.#gate.pass(request, () => handler(request));
  }

  /** Without actions, every request that isn't a question is refused. */
  readonly #allowed: Policy = (question) =>
    (question.operation === "read" || this.#settings.actions) && this.#settings.authorize(question);

  #seesPayloads(request: Request): Promise<boolean> {
    return this.#asks(this.#settings.payloads, request, "read");
  }

  /** A policy that throws denies. */
  async #asks(policy: Policy, request: Request, operation: HttpOperation): Promise<boolean> {
    try {
      await authorizeRequest(policy, { request, operation, resource: APPLICATION }, this.#report(request));
      return true;
    } catch {
      return false;
    }
  }

  #report(request: Request): (error: unknown) => void {
    const { onError, logger = this.#logger } = this.#settings.reporting;
    const log = (error: unknown) =>
      logger.error("The dashboard could not answer a request.", {
        name: error instanceof Error ? error.name : typeof error,
      });
    return (error) => callSafely(() => (onError ?? log)(error, { request, route: null, operation: null }), log);
  }

  /** What this caller may do, so that the page shows no buttons that are refused. */
  async #session(request: Request, scope: Scope) {
    const allowed = await Promise.all(OPERATIONS.map((one) => this.#asks(this.#allowed, request, one)));
    const open = scope.payloads && this.#settings.redact !== true;
    return {
      version: VERSION,
      operations: OPERATIONS.filter((_, index) => allowed[index]),
      payloads: open && (await this.#seesPayloads(request)),
    };
  }
}

/** A page of another site can neither send the header nor leave out where it comes from. */
function isOwn({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return headers.has(HEADER) && (site === null || site === "same-origin");
}
