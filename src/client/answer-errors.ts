import { ConflictError, InvalidInputError, NotFoundError, PerdureError } from "../errors.ts";

/** What the server said it won't do: the same classes and codes as in process. */
export async function toError(response: Response): Promise<PerdureError> {
  const { code, message } = await readError(response);
  if (response.status === 404) return new NotFoundError(code, message);
  if (response.status === 409) return new ConflictError(code, message);
  if (response.status === 400 || response.status === 413) return new InvalidInputError(code, message);
  return new PerdureError(code, message);
}

export function unreachable(cause: unknown): PerdureError {
  return new PerdureError("client.unreachable", "The server can't be reached, or doesn't answer.", { cause });
}

/** Whoever stands between may have answered instead: a proxy, with a page. */
async function readError(response: Response): Promise<{ code: string; message: string }> {
  try {
    const { code, message } = (await response.json()) as Record<string, unknown>;
    if (typeof code === "string" && typeof message === "string") return { code, message };
  } catch {
    // told below
  }
  const message = isRedirect(response)
    ? "The server sends its callers elsewhere, and they aren't followed: baseUrl must be where the handler really is."
    : `The server answered with ${response.status}, and not as ours does.`;
  return { code: "client.unexpected_answer", message };
}

/** Browsers don't tell which. */
function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}
