import { InvalidInputError } from "../errors.ts";
import { type Authorize, checkAuthorize, type Policy } from "../http/access/authorization.ts";
import type { Redaction } from "../http/answers/redaction.ts";
import { checkBasePath, type HttpHandlerOptions } from "../http/handler-options.ts";
import { checkLogger } from "../logger.ts";
import { checkOptions } from "../options.ts";

export interface DashboardOptions {
  /** The path at which it is mounted, as browsers see it: `/ops`. Default: the root. */
  readonly basePath?: string;
  /** Decides which requests are allowed, those for the page's own files included. Required. */
  readonly authorize: Authorize;
  /** Whether callers that `authorize` allows can change anything. Default: false, they can only look. */
  readonly actions?: boolean;
  /**
   * Whether callers see params, outputs, payloads and messages of errors: all of them, or those that a policy allows. Default:
   * false.
   */
  readonly payloads?: boolean | Policy;
  /** Hides some of these from callers that may see payloads: see `createHttpHandler`. */
  readonly redact?: Redaction;
  /** How long the database may take to answer a question of the page. Default: 10 seconds. */
  readonly timeoutMs?: number;
  /** Receives the errors that are answered with 500 or 503. Default: the logger gets the error's name and code, and no more. */
  readonly onError?: NonNullable<HttpHandlerOptions["onError"]>;
  /** Receives each request that changes something, or was to: who, what, on what, and the outcome. */
  readonly onAudit?: NonNullable<HttpHandlerOptions["onAudit"]>;
  readonly logger?: NonNullable<HttpHandlerOptions["logger"]>;
}

export interface DashboardSettings {
  readonly basePath: string;
  readonly authorize: Policy;
  readonly actions: boolean;
  readonly payloads: Policy;
  readonly redact: Redaction;
  readonly timeoutMs: number;
  /** What both handlers of the API are given. */
  readonly reporting: Pick<HttpHandlerOptions, "onError" | "onAudit" | "logger">;
}

const FIELDS = ["basePath", "authorize", "actions", "payloads", "redact", "timeoutMs", "onError", "onAudit", "logger"];
const LONGEST_MS = 300_000;

export function parseDashboardOptions(options: DashboardOptions): DashboardSettings {
  checkOptions(options, { label: "createDashboard", fields: FIELDS });
  const { basePath = "", actions = false, payloads = false, redact = false, timeoutMs = 10_000 } = options;
  const { onError, onAudit, logger } = options;
  if (typeof actions !== "boolean") throw invalid("actions must be true or false");
  if (typeof payloads !== "boolean" && typeof payloads !== "function") {
    throw invalid("payloads must be true, false, or a function that decides which requests see them");
  }
  if (!(Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= LONGEST_MS)) {
    throw invalid(`timeoutMs must be a whole number from 1 to ${LONGEST_MS}`);
  }
  return {
    basePath: checkBasePath(basePath),
    authorize: toPolicy(checkAuthorize(options.authorize, "createDashboard")),
    actions,
    payloads: typeof payloads === "function" ? payloads : () => payloads,
    redact,
    timeoutMs,
    reporting: {
      ...(onError === undefined ? {} : { onError }),
      ...(onAudit === undefined ? {} : { onAudit }),
      ...(logger === undefined ? {} : { logger: checkLogger(logger) }),
    },
  };
}

function toPolicy(authorize: Authorize): Policy {
  if (typeof authorize === "function") return authorize;
  return (question) => authorize[question.operation]?.(question) ?? false;
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `createDashboard: ${problem}.`);
}
