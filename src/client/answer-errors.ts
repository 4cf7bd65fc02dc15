import { ConflictError, InvalidInputError, NotFoundError, PerdureError } from "../errors.ts";

/** The error that the server answered with, with the class and code that it has in process. */
export async function toError(response: Response): Promise<PerdureError> {
  const { code, message } = await readError(response);
  if (response.status === 404) return new NotFoundError(code, message);
  if (response.status === 409) return new ConflictError(code, message);
  if (response.status === 400 || response.status === 413) return new InvalidInputError(code, message);
  return new PerdureError(code, message);
}

export function unreachable(cause: unknown): PerdureError {
  return new PerdureError("client.unreachable", "The server can't be reached or doesn't answer.", { cause });
}

/** The answer may be a proxy's page instead. */
async function readError(response: Response): Promise<{ code: string; message: string }> {
  try {
    const { code, message } = (await response.json()) as Record<string, unknown>;
    if (typeof code === "string" && typeof message === "string") return { code, message };
  } catch {
    // not JSON: described below
  }
  const message = isRedirect(response)
    ? "The server answered with a redirect, which isn't followed: baseUrl must be the handler's own address."
    : `The server answered with status ${response.status}, but not in Perdure's format.`;
  return { code: "client.unexpected_answer", message };
}

/** Browsers hide the status of a redirect. */
function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}
