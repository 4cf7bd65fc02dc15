import { PerdureError } from "../errors.ts";

export interface HttpErrorOptions {
  readonly details?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a request is refused with. */
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
