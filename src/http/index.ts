/** The application over HTTP, for servers that speak the Web's Request and Response. */
export type {
  AuthorizationAnswer,
  AuthorizationQuestion,
  Authorize,
  HttpOperation,
  HttpResource,
  Policy,
} from "./authorization.ts";
export { bearerToken } from "./bearer-token.ts";
export type { CorsOptions } from "./cors.ts";
export { createHttpHandler, type HttpHandler } from "./create-http-handler.ts";
export type { HttpErrorContext, HttpHandlerOptions } from "./handler-options.ts";
export type { Servable } from "./http-host.ts";
export type { Redaction, RedactionContext, ValueField } from "./redaction.ts";
