import { InvalidInputError } from "../errors.ts";
import { type Authorize, checkAuthorize } from "../http/access/authorization.ts";
import { createHttpHandler } from "../http/create-http-handler.ts";
import type { HttpHandlerOptions } from "../http/handler-options.ts";
import type { Servable } from "../http/http-host.ts";
import { checkOptions } from "../options.ts";
import { createToolServer } from "./tool-server.ts";

/** A transport of the SDK, such as `StdioServerTransport`. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: unknown, options?: unknown): Promise<void>;
  close(): Promise<void>;
}

/** A `Server` of the SDK, as far as its user needs it. */
export interface McpServer {
  /** Serves the client at the other end, until that or `close` ends it. */
  connect(transport: McpTransport): Promise<void>;
  close(): Promise<void>;
}

export interface McpServerOptions
  extends Pick<HttpHandlerOptions, "redact" | "stackTraces" | "onError" | "onAudit" | "logger"> {
  /** Whether there are tools that change something. Default: false, clients can only look. */
  readonly actions?: boolean;
  /** Whether clients see params, outputs, payloads and messages of errors. Default: false. */
  readonly payloads?: boolean;
  /**
   * Decides which calls are allowed, as for `createHttpHandler`. The request has the headers of the one that contained the
   * call, if that came over HTTP. Default: all calls are.
   */
  readonly authorize?: Authorize;
}

const FIELDS = ["actions", "payloads", "authorize", "redact", "stackTraces", "onError", "onAudit", "logger"];

/** No server has this address: requests don't leave the process. */
const BASE_URL = "http://perdure.invalid";

/**
 * A server of the Model Context Protocol whose tools are the routes of the HTTP API. Connect it to a transport of the SDK; each
 * client needs a server of its own.
 *
 * @example
 * const server = createMcpServer(app);
 * await server.connect(new StdioServerTransport());
 */
export function createMcpServer(app: Servable, options: McpServerOptions = {}): McpServer {
  checkOptions(options, { label: "createMcpServer", fields: FIELDS });
  const { actions = false, payloads = false, authorize = () => true, ...others } = options;
  for (const [name, value] of Object.entries({ actions, payloads })) {
    if (typeof value !== "boolean") {
      throw new InvalidInputError("options.invalid", `createMcpServer: ${name} must be true or false.`);
    }
  }
  const fetch = createHttpHandler(app, { ...others, authorize: checkAuthorize(authorize, "createMcpServer") });
  return createToolServer({ api: { baseUrl: BASE_URL, fetch }, actions, payloads });
}
