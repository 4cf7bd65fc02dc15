import {
  ConflictError,
  InvalidInputError,
  isStoreClosed,
  NotFoundError,
  PerdureError,
  RevisionConflictError,
  StoreError,
} from "../../errors.ts";

const RETRY_AFTER_SECONDS = "1";

export interface HttpErrorOptions {
  readonly details?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that is answered with its status, code and message. */
export class HttpError extends PerdureError {
  readonly status: number;
  readonly details: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, { details, headers = {} }: HttpErrorOptions = {}) {
    super(code, message);
    this.status = status;
    this.details = details;
    this.headers = headers;
  }
}

export function invalidRequest(message: string, details?: unknown): HttpError {
  return new HttpError(400, "http.invalid_request", message, { details });
}

/**
 * The answer to a request that failed. A caller's mistake is explained in full. Of a fault of the server, the answer says only
 * that there was one, and `unexpected` asks for it to be reported to the operator.
 */
export function toHttpError(error: unknown): { readonly answer: HttpError; readonly unexpected: boolean } {
  if (error instanceof HttpError) return { answer: error, unexpected: false };
  if (error instanceof InvalidInputError) return expected(invalidStatus(error), error);
  if (error instanceof NotFoundError) {
    const { code, message, details } = error;
    return { answer: new HttpError(404, code, details ?? message), unexpected: false };
  }
  if (error instanceof RevisionConflictError) {
    const { revision } = error.current as { readonly revision?: unknown };
    return expected(409, error, { revision });
  }
  if (error instanceof ConflictError) return expected(409, error);
  if (isUnavailable(error)) return { answer: unavailable(), unexpected: true };
  return { answer: internal(), unexpected: true };
}

export function forbidden(message: string = "The caller isn't allowed to do this."): HttpError {
  return new HttpError(403, "http.forbidden", message);
}

export function unauthenticated(message: string = "The request needs valid credentials."): HttpError {
  return new HttpError(401, "http.unauthenticated", message, { headers: { "www-authenticate": "Bearer" } });
}

export function internal(): HttpError {
  return new HttpError(500, "http.internal", "The server failed. The error was reported to its operator.");
}

function expected(status: number, { code, message }: PerdureError, details?: unknown) {
  return { answer: new HttpError(status, code, message, { details }), unexpected: false };
}

function invalidStatus({ code }: InvalidInputError): number {
  return code === "value.too_large" ? 413 : 400;
}

function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreError) return error.transient;
  return isStoreClosed(error);
}

function unavailable(): HttpError {
  return new HttpError(503, "http.unavailable", "The database can't be used at present. Try again later.", {
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  });
}
