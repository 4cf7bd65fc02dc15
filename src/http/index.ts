/** Serves an application over HTTP, on servers that use the Web's Request and Response. */
export type {
  AuthorizationAnswer,
  AuthorizationQuestion,
  Authorize,
  HttpOperation,
  HttpResource,
  Policy,
} from "./access/authorization.ts";
export { bearerToken } from "./access/bearer-token.ts";
export type { CorsOptions } from "./access/cors.ts";
export type { Redaction, RedactionContext, ValueField } from "./answers/redaction.ts";
export { createHttpHandler, type HttpHandler } from "./create-http-handler.ts";
export type { HttpErrorContext, HttpHandlerOptions } from "./handler-options.ts";
export type { Servable } from "./http-host.ts";
