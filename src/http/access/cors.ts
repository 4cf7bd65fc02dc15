import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import { HEARTBEAT_HEADER } from "../answers/event-stream.ts";

/** The pages of other origins that may send requests. Without it, none may. */
export interface CorsOptions {
  /** `["https://admin.example.org"]`, or `"*"` for all. */
  readonly origins: "*" | readonly string[];
  /** Headers that pages may send in addition to those that routes use, such as one that your policy reads. Default: none. */
  readonly headers?: readonly string[];
  /** How long browsers may keep the answer to a preflight. Default: 600. */
  readonly maxAgeSeconds?: number;
}

const ORIGIN = /^https?:\/\/[a-z0-9.:[\]_-]+$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'+.^_`|~-]+$/;
const HEADERS = "authorization, content-type, idempotency-key, last-event-id";
/** Headers of an answer that pages of other origins may read. */
const READABLE = `allow, retry-after, www-authenticate, ${HEARTBEAT_HEADER}`;

export function checkCors(cors: CorsOptions | undefined): CorsOptions | null {
  if (cors === undefined) return null;
  checkOptions(cors, { label: "cors", fields: ["origins", "headers", "maxAgeSeconds"] });
  const { origins, headers = [], maxAgeSeconds = 0 } = cors;
  const wrong: unknown = Array.isArray(origins) ? origins.find((one) => !isOrigin(one)) : origins;
  if (origins !== "*" && (!Array.isArray(origins) || wrong !== undefined)) {
    const matched =
      typeof wrong === "string" ? ` A page never has the origin ${JSON.stringify(wrong.slice(0, 100))}.` : "";
    throw new InvalidInputError(
      "options.invalid",
      'cors.origins must be "*", or a list of origins such as "https://example.org", in lower case, without a path, patterns or the ' +
        `scheme's own port.${matched}`,
    );
  }
  if (!(Array.isArray(headers) && headers.every(isHeaderName))) {
    throw new InvalidInputError("options.invalid", 'cors.headers must be names of headers such as "x-tenant".');
  }
  if (Number.isInteger(maxAgeSeconds) && maxAgeSeconds >= 0) return cors;
  throw new InvalidInputError("options.invalid", "cors.maxAgeSeconds must be a whole number.");
}

/** Whether this is a browser's preflight request. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("origin") && headers.has("access-control-request-method");
}

export function answerPreflight({ maxAgeSeconds = 600, headers: more = [] }: CorsOptions, methods: string): Response {
  const headers = {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": [HEADERS, ...more].join(", "),
    "access-control-max-age": String(maxAgeSeconds),
  };
  return new Response(null, { status: 204, headers });
}

/** Cookies are never allowed: a page of another origin must know a secret, and not just run in a user's browser. */
export function addCorsHeaders(cors: CorsOptions, request: Request, headers: Headers): void {
  const origin = request.headers.get("origin");
  headers.append("vary", "Origin");
  if (origin === null) return;
  headers.set("access-control-expose-headers", READABLE);
  if (cors.origins === "*") headers.set("access-control-allow-origin", "*");
  else if (cors.origins.includes(origin)) headers.set("access-control-allow-origin", origin);
}

function isOrigin(text: unknown): boolean {
  if (typeof text !== "string" || !ORIGIN.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}

function isHeaderName(text: unknown): boolean {
  return typeof text === "string" && HEADER_NAME.test(text);
}
