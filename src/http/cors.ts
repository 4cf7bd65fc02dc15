import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";

/** Which pages of other origins may ask. Without it, none may. */
export interface CorsOptions {
  /** `["https://admin.example.org"]`, or `"*"` for all. */
  readonly origins: "*" | readonly string[];
  /** For how long browsers need not ask again. Default: 600. */
  readonly maxAgeSeconds?: number;
}

const HEADERS = "authorization, content-type, idempotency-key, last-event-id";
/** What pages of other origins may read of an answer's headers: what tells them how to go on. */
const READABLE = "allow, retry-after, www-authenticate";

export function checkCors(cors: CorsOptions | undefined): CorsOptions | null {
  if (cors === undefined) return null;
  checkOptions(cors, { label: "cors", fields: ["origins", "maxAgeSeconds"] });
  const { origins, maxAgeSeconds = 0 } = cors;
  const named = Array.isArray(origins) && origins.every(isOrigin);
  if (origins !== "*" && !named) {
    throw new InvalidInputError(
      "options.invalid",
      'cors.origins must be "*", or origins such as "https://example.org".',
    );
  }
  if (Number.isInteger(maxAgeSeconds) && maxAgeSeconds >= 0) return cors;
  throw new InvalidInputError("options.invalid", "cors.maxAgeSeconds must be a whole number.");
}

/** Whether a browser only asks whether it may ask. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("origin") && headers.has("access-control-request-method");
}

export function answerPreflight({ maxAgeSeconds = 600 }: CorsOptions, methods: string): Response {
  const headers = {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": HEADERS,
    "access-control-max-age": String(maxAgeSeconds),
  };
  return new Response(null, { status: 204, headers });
}

/** Cookies are never allowed: who asks from another origin must know a secret, and not just be in somebody's browser. */
export function addCorsHeaders(cors: CorsOptions, request: Request, headers: Headers): void {
  const origin = request.headers.get("origin");
  headers.append("vary", "Origin");
  if (origin === null) return;
  headers.set("access-control-expose-headers", READABLE);
  if (cors.origins === "*") headers.set("access-control-allow-origin", "*");
  else if (cors.origins.includes(origin)) headers.set("access-control-allow-origin", origin);
}

function isOrigin(text: unknown): boolean {
  return typeof text === "string" && URL.canParse(text) && new URL(text).origin === text;
}
