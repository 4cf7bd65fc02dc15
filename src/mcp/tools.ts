import { PerdureError } from "../errors.ts";
import { HIDDEN, PAYLOADS_HEADER } from "../http/access/access.ts";
import { invalidRequest } from "../http/answers/http-error.ts";
import { validate } from "../http/schemas/validate.ts";
import { createTools, isReadOnly, KEY_ARGUMENT, type Tool, type ToolDefinition } from "./tool-definition.ts";

/** The HTTP API that tools ask, in this process or on a server. */
export interface Api {
  readonly baseUrl: string;
  readonly fetch: (request: Request) => Promise<Response>;
}

export interface ToolSettings {
  readonly api: Api;
  /** Whether there are tools that change something. */
  readonly actions: boolean;
  /** Whether answers contain users' values. */
  readonly payloads: boolean;
}

/** How a call came in. */
export interface CallContext {
  /** Of the request that contained the call, if it came over HTTP. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The answer to a call as a client gets it. */
export interface ToolAnswer {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly isError?: true;
  readonly [field: string]: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Headers that say something of the message, and not of its sender. */
const OF_THE_MESSAGE =
  /^((accept|content|mcp|perdure|sec-fetch)(-.*)?|connection|expect|host|idempotency-key|keep-alive|last-event-id|origin|te|trailer|transfer-encoding|upgrade)$/;

/**
 * The routes of the HTTP API as tools. A call is a request to its route: all of the route's checks, limits and bounds apply.
 */
export class Tools {
  readonly #settings: ToolSettings;
  readonly #tools: ReadonlyMap<string, Tool>;

  constructor(settings: ToolSettings) {
    this.#settings = settings;
    this.#tools = new Map(createTools().map((tool) => [tool.route.name, tool]));
  }

  get definitions(): readonly ToolDefinition[] {
    return [...this.#tools.values()].filter((tool) => this.#isOffered(tool)).map(({ definition }) => definition);
  }

  /**
   * Null if there is no such tool. A call that is refused or fails has an answer that says why: models can correct themselves.
   */
  async call(name: string, given: Arguments, context: CallContext = {}): Promise<ToolAnswer | null> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return null;
    try {
      if (!this.#isOffered(tool)) throw readOnly(name);
      return await this.#ask(tool, toRequest(tool, given, this.#settings, context));
    } catch (error) {
      if (!(error instanceof PerdureError)) throw error;
      const { code, message, details } = error as PerdureError & { readonly details?: unknown };
      return { ...toAnswer({ code, message, details }), isError: true };
    }
  }

  #isOffered({ route }: Tool): boolean {
    return this.#settings.actions || isReadOnly(route);
  }

  async #ask({ route }: Tool, request: Request): Promise<ToolAnswer> {
    const { api, payloads } = this.#settings;
    const response = await api.fetch(request);
    const { status, headers } = response;
    if (!payloads && headers.get(PAYLOADS_HEADER) !== HIDDEN) {
      await response.body?.cancel();
      throw new PerdureError(
        "mcp.payloads_not_hidden",
        "The server doesn't hide users' values when it is asked to. Upgrade it, or allow payloads.",
      );
    }
    if (status === 204) return toAnswer({ done: true });
    const known = Object.hasOwn(route.answers, status); // a server that isn't ready says so with a status of its own
    return { content: [{ type: "text", text: await response.text() }], ...(known ? {} : { isError: true }) };
  }
}

function toAnswer(value: unknown): ToolAnswer {
  return { content: [{ type: "text", text: JSON.stringify(value) }] };
}

function readOnly(name: string): PerdureError {
  return new PerdureError("mcp.read_only", `${name} would change something, and this server only reads.`);
}

function toRequest(
  { route, definition, body }: Tool,
  given: Arguments,
  { api, payloads }: ToolSettings,
  { headers: received = {}, signal }: CallContext,
): Request {
  const issues = validate(definition.inputSchema, given, "arguments");
  if (issues.length > 0) throw invalidRequest(`These aren't arguments of ${route.name}.`, issues);
  const url = new URL(api.baseUrl + toPath(route.path, given));
  for (const name of Object.keys(route.query ?? {})) {
    for (const value of [given[name] ?? []].flat()) url.searchParams.append(name, String(value));
  }
  const headers = new Headers(sendersHeaders(received));
  headers.set("accept", "application/json");
  if (!payloads) headers.set(PAYLOADS_HEADER, HIDDEN);
  if (given[KEY_ARGUMENT] !== undefined) headers.set("idempotency-key", toHeader(given[KEY_ARGUMENT] as string));
  const { method } = route;
  const init = { method, headers, redirect: "manual", ...(signal === undefined ? {} : { signal }) } as const;
  if (method !== "POST") return new Request(url, init);
  headers.set("content-type", "application/json");
  const fields = body.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]);
  return new Request(url, { ...init, body: JSON.stringify(Object.fromEntries(fields)) });
}

/** A URL can't have `.` and `..` as segments: it would be that of another route. */
function toPath(template: string, given: Arguments): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name] as string;
    if (value === "." || value === "..") throw invalidRequest(`${name} can't be "${value}".`);
    return encodeURIComponent(value.toWellFormed());
  });
}

function toHeader(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw invalidRequest(`${KEY_ARGUMENT} must be visible ASCII characters.`);
}

function sendersHeaders(received: NonNullable<CallContext["headers"]>): [string, string][] {
  return Object.entries(received).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (value === undefined || OF_THE_MESSAGE.test(lower)) return [];
    return [value].flat().map((one): [string, string] => [lower, one]);
  });
}
