import { checkOptions, invalidOption } from "../options.ts";

export interface ClientOptions {
  /** Where the HTTP handler is mounted, its base path included: `https://example.org/perdure`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token. A function is called for each request. */
  readonly token?: string | (() => string | Promise<string>);
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the runtime's own. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** How often a request without an answer is repeated. Default: 4. */
  readonly retries?: number;
  /**
   * The stored names of workflows, by their keys in the application. Needed only if they differ and the token may not list
   * workflows; otherwise the client asks the server once.
   */
  readonly names?: Readonly<Record<string, string>>;
}

export interface ClientSettings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly token: () => Promise<string | null>;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly retries: number;
  readonly names: Readonly<Record<string, string>> | null;
}

const MOST_RETRIES = 20;

export function parseClientOptions(options: ClientOptions): ClientSettings {
  checkOptions(options, {
    label: "createClient",
    fields: ["baseUrl", "token", "headers", "fetch", "retries", "names"],
  });
  const { baseUrl, token, headers = {}, retries = 4, names = null } = options;
  const { fetch = (request: Request) => globalThis.fetch(request) } = options;
  if (!(Number.isInteger(retries) && retries >= 0 && retries <= MOST_RETRIES)) {
    throw invalidOption(`retries must be a whole number from 0 to ${MOST_RETRIES}`);
  }
  return {
    baseUrl: parseBaseUrl(baseUrl),
    token: async () => (typeof token === "function" ? token() : (token ?? null)),
    headers,
    fetch,
    retries,
    names,
  };
}

function parseBaseUrl(baseUrl: unknown): string {
  const url = URL.parse(String(baseUrl));
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalidOption("baseUrl must be the absolute URL of the HTTP handler, with http or https");
  }
  if (url.username !== "" || url.password !== "") {
    throw invalidOption("baseUrl must have no credentials, which many clients don't send; use token or headers");
  }
  if (url.search !== "" || url.hash !== "") throw invalidOption("baseUrl must have neither a query nor a fragment");
  return url.href.replace(/\/+$/, "");
}
