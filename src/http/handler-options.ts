import { checkLogger, type Logger } from "../logger.ts";
import { checkOptions, invalidOption } from "../options.ts";
import { AccessTokens } from "./access/access-tokens.ts";
import type { OnAudit } from "./access/audit.ts";
import { type Authorize, checkAuthorize, type HttpOperation } from "./access/authorization.ts";
import { type CorsOptions, checkCors } from "./access/cors.ts";
import { checkRedaction, type Redaction } from "./answers/redaction.ts";

export interface HttpHandlerOptions {
  /** The path at which it is mounted, as clients see it: `/perdure`. Default: the root. */
  readonly basePath?: string;
  /** Decides which requests are allowed. Required. */
  readonly authorize: Authorize;
  /** Lets in holders of expiring tokens for one instance. `authorize` isn't asked about them. Default: none. */
  readonly accessTokens?: AccessTokens;
  /** Whether holders of tokens must be authorized, too. Default: false, the token is the permission. */
  readonly authorizeTokens?: boolean;
  /** Whether `GET /health/live` and `GET /health/ready` need no authorization. Default: false. */
  readonly publicHealth?: boolean;
  /** Hides users' values: all of them, or those that a function chooses. Default: callers that may read see them. */
  readonly redact?: Redaction;
  /** Whether callers that may read see where errors were thrown. Default: false. */
  readonly stackTraces?: boolean;
  /** The pages of other origins that may send requests. Default: none. */
  readonly cors?: CorsOptions;
  /** Whether to serve `POST /_runner/tick`, and for how long a tick may run. Default: false; 10 seconds. */
  readonly tick?: boolean | { readonly deadlineMs?: number };
  /** The largest body of a request. Default: 2 MiB. */
  readonly maxBodyBytes?: number;
  /** How long a body may take to arrive. Default: 30 seconds. */
  readonly bodyTimeoutMs?: number;
  /** How many streams of events may be open at a time. Default: 10,000. */
  readonly maxStreams?: number;
  /** How many of them one caller may have. `authorize` names callers; others aren't limited. Default: 1000. */
  readonly maxStreamsPerCaller?: number;
  /** How many requests one caller may have under way at a time. Default: 100. */
  readonly maxRequestsPerCaller?: number;
  /** How long a stream may be open before its reader must reconnect. Default: 1 hour. */
  readonly maxStreamAgeMs?: number;
  /** How often `authorize` is asked again about an open stream. Default: 1 minute. */
  readonly recheckMs?: number;
  /** Bytes of unread events in all streams together; beyond it, the slowest readers are disconnected. Default: 64 MiB. */
  readonly maxUnreadBytes?: number;
  /** How long a stream may be silent. Default: 15 seconds. */
  readonly heartbeatMs?: number;
  /** Receives the errors that are answered with 500 or 503. Default: the logger gets the error's name and code, and no more. */
  readonly onError?: (error: unknown, context: HttpErrorContext) => unknown;
  /** Receives each request that changes something, or was to: who, what, on what, and the outcome. */
  readonly onAudit?: OnAudit;
  readonly logger?: Logger;
}

export interface HttpErrorContext {
  readonly request: Request;
  /** The route's name in the OpenAPI document; null if none was found yet. */
  readonly route: string | null;
  readonly operation: HttpOperation | null;
}

export interface HandlerSettings {
  readonly basePath: string;
  readonly authorize: Authorize;
  readonly accessTokens: AccessTokens | null;
  readonly authorizeTokens: boolean;
  readonly publicHealth: boolean;
  readonly redact: Redaction;
  readonly stackTraces: boolean;
  readonly cors: CorsOptions | null;
  readonly tickDeadlineMs: number | null;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly maxStreams: number;
  readonly maxStreamsPerCaller: number;
  readonly maxRequestsPerCaller: number;
  readonly maxStreamAgeMs: number;
  readonly recheckMs: number;
  readonly maxUnreadBytes: number;
  readonly heartbeatMs: number;
  readonly onError: ((error: unknown, context: HttpErrorContext) => unknown) | null;
  readonly onAudit: OnAudit | null;
  readonly logger: Logger | null;
}

const OF_STREAMS = [
  "maxStreams",
  "maxStreamsPerCaller",
  "maxStreamAgeMs",
  "maxUnreadBytes",
  "recheckMs",
  "heartbeatMs",
];
const LIMITS = ["maxBodyBytes", "bodyTimeoutMs", "maxRequestsPerCaller", ...OF_STREAMS];
const OTHERS = ["redact", "stackTraces", "cors", "tick", "onError", "onAudit", "logger"];
const FIELDS = ["basePath", "authorize", "accessTokens", "authorizeTokens", "publicHealth", ...OTHERS, ...LIMITS];
const BASE_PATH = /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)*$/;
const MOST_BYTES = 256 * 1024 * 1024;
const LONGEST_MS = 86_400_000;

export function parseHandlerOptions(options: HttpHandlerOptions): HandlerSettings {
  checkOptions(options, { label: "createHttpHandler", fields: FIELDS });
  const { basePath = "", onError = null, logger, tick = false, stackTraces = false, authorizeTokens = false } = options;
  const { maxBodyBytes = 2 * 1024 * 1024, bodyTimeoutMs = 30_000, maxStreams = 10_000, heartbeatMs = 15_000 } = options;
  const { maxUnreadBytes = 64 * 1024 * 1024, publicHealth = false } = options;
  const { maxStreamsPerCaller = 1000, maxRequestsPerCaller = 100 } = options;
  const { maxStreamAgeMs = 3_600_000, recheckMs = 60_000, accessTokens = null, onAudit = null } = options;
  if (accessTokens !== null && !(accessTokens instanceof AccessTokens)) {
    throw invalidOption("accessTokens must be the result of accessTokens({ secret })");
  }
  if (onError !== null && typeof onError !== "function") throw invalidOption("onError must be a function");
  if (onAudit !== null && typeof onAudit !== "function") throw invalidOption("onAudit must be a function");
  if (typeof stackTraces !== "boolean") throw invalidOption("stackTraces must be true or false");
  if (typeof authorizeTokens !== "boolean") throw invalidOption("authorizeTokens must be true or false");
  if (typeof publicHealth !== "boolean") throw invalidOption("publicHealth must be true or false");
  return {
    stackTraces,
    authorizeTokens,
    publicHealth,
    basePath: checkBasePath(basePath),
    authorize: checkAuthorize(options.authorize),
    accessTokens,
    redact: checkRedaction(options.redact),
    cors: checkCors(options.cors),
    tickDeadlineMs: parseTick(tick),
    maxBodyBytes: checkNumber("maxBodyBytes", maxBodyBytes, 1, MOST_BYTES),
    bodyTimeoutMs: checkNumber("bodyTimeoutMs", bodyTimeoutMs, 1, LONGEST_MS),
    maxStreams: checkNumber("maxStreams", maxStreams, 0, 1_000_000),
    maxStreamsPerCaller: checkNumber("maxStreamsPerCaller", maxStreamsPerCaller, 1, 1_000_000),
    maxRequestsPerCaller: checkNumber("maxRequestsPerCaller", maxRequestsPerCaller, 1, 1_000_000),
    maxStreamAgeMs: checkNumber("maxStreamAgeMs", maxStreamAgeMs, 100, LONGEST_MS),
    recheckMs: checkNumber("recheckMs", recheckMs, 10, LONGEST_MS),
    maxUnreadBytes: checkNumber("maxUnreadBytes", maxUnreadBytes, 1, Number.MAX_SAFE_INTEGER),
    heartbeatMs: checkNumber("heartbeatMs", heartbeatMs, 1000, LONGEST_MS),
    onError,
    onAudit,
    logger: logger === undefined ? null : checkLogger(logger),
  };
}

export function checkBasePath(basePath: unknown): string {
  const path = typeof basePath === "string" ? basePath.replace(/\/$/, "") : undefined;
  if (path !== undefined && BASE_PATH.test(path)) return path;
  throw invalidOption('basePath must be a path such as "/perdure"');
}

function parseTick(tick: unknown): number | null {
  if (typeof tick === "boolean") return tick ? 10_000 : null;
  checkOptions(tick, { label: "tick", fields: ["deadlineMs"] });
  const { deadlineMs = 10_000 } = tick as { readonly deadlineMs?: number };
  return checkNumber("tick.deadlineMs", deadlineMs, 0, LONGEST_MS);
}

function checkNumber(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(`${name} must be a whole number from ${least} to ${most}`);
}
