import type { Clock } from "../clock.ts";
import { HttpError } from "./http-error.ts";
import { checkJsonDepth } from "./json-depth.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Only JSON; from a page of another origin also where there is nothing to say: it can't send that without asking first, so no cookie that
 * an application's own policy looks at can be misused.
 */
export function checkContentType({ headers, url }: Request, empty: boolean): void {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  const encoding = (headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  if (encoding !== "identity") {
    throw new HttpError(
      415,
      "http.unsupported_media_type",
      "Bodies must be sent as they are, without Content-Encoding.",
    );
  }
  if (type.trim().toLowerCase() === "application/json") return;
  if (empty && type === "" && !isFromElsewhere(headers, url)) return;
  throw new HttpError(
    415,
    "http.unsupported_media_type",
    "Bodies need the header Content-Type: application/json; so do requests from pages of another origin without a body.",
  );
}

/** Browsers say so of all requests that change something; others don't, and need no protection. */
function isFromElsewhere(headers: Headers, url: string): boolean {
  const [origin, site] = [headers.get("origin"), headers.get("sec-fetch-site")];
  if (site !== null) return site !== "same-origin" && site !== "none";
  return origin !== null && origin !== new URL(url).origin;
}

/** Gives a body as a text, or null where it is empty. Never holds more of it than is allowed. */
export async function readBody(request: Request, limits: BodyLimits): Promise<string | null> {
  const { maxBytes } = limits;
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return null;
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const deadline = createDeadline(limits);
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), deadline.passed]);
      if (done) break;
      length += value.byteLength;
      if (length > maxBytes) throw tooLarge(maxBytes);
      chunks.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {}); // whoever sends it may be gone
    throw error instanceof HttpError ? error : cutShort();
  } finally {
    deadline.cancel();
  }
  return length === 0 ? null : decode(chunks, length);
}

export function parseJson(text: string): unknown {
  checkJsonDepth(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new HttpError(400, "http.invalid_json", "The body isn't JSON."); // the parser's own message would repeat it
  }
}

export function createDeadline({ clock, timeoutMs }: BodyLimits): { passed: Promise<never>; cancel: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {}); // nobody may be waiting for it
  const timer = clock.setTimer(
    () => reject(new HttpError(408, "http.body_timeout", `The body took longer than ${timeoutMs} ms.`)),
    timeoutMs,
  );
  return { passed: promise, cancel: () => timer.cancel() };
}

function decode(chunks: readonly Uint8Array[], length: number): string {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new HttpError(400, "http.invalid_json", "The body isn't UTF-8.");
  }
}

export function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, "http.body_too_large", `The body must not be larger than ${maxBytes} bytes.`);
}

function cutShort(): HttpError {
  return new HttpError(400, "http.invalid_json", "The body was cut short.");
}
