/** Serves an application over HTTP, on servers that use the Web's Request and Response. */
export { type AccessOperation, type AccessTokens, accessTokens, type NewAccessToken } from "./access/access-tokens.ts";
export type { AuditEntry, OnAudit } from "./access/audit.ts";
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
export type { RequestDetails, RequestedInstance } from "./access/request-details.ts";
export type { Grant } from "./access/scope.ts";
export type { Redaction, RedactionContext, ValueField } from "./answers/redaction.ts";
export { createHttpHandler, type HttpHandler } from "./create-http-handler.ts";
export type { HttpErrorContext, HttpHandlerOptions } from "./handler-options.ts";
export type { Servable } from "./http-host.ts";
