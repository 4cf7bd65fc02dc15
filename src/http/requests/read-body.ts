import type { Clock } from "../../clock.ts";
import { MAX_LEVELS } from "../../values/tags.ts";
import { HttpError, invalidRequest } from "../answers/http-error.ts";

/** The levels of a value, those of the `$perdure` objects in it, and those of the body around it. */
const MOST_LEVELS = MAX_LEVELS * 2 + 10;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Accepts JSON only. A page of another origin needs the header even without a body: a browser sends such a request only after a
 * preflight, so the page can't misuse a cookie that the application's policy accepts.
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
  if (empty && type === "" && !isCrossOrigin(headers, url)) return;
  throw new HttpError(
    415,
    "http.unsupported_media_type",
    "Bodies need the header Content-Type: application/json; so do requests from pages of another origin without a body.",
  );
}

/**
 * Browsers send these headers with every request that changes something. Other clients send no cookies and need no protection.
 */
function isCrossOrigin(headers: Headers, url: string): boolean {
  const [origin, site] = [headers.get("origin"), headers.get("sec-fetch-site")];
  if (site !== null) return site !== "same-origin" && site !== "none";
  return origin !== null && origin !== new URL(url).origin;
}

/** The body as text, or null if it is empty. Never holds more of it than is allowed. */
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
    void reader.cancel().catch(() => {}); // the client may be gone
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
    throw new HttpError(400, "http.invalid_json", "The body isn't JSON."); // the parser's message would quote the body
  }
}

export function createDeadline({ clock, timeoutMs }: BodyLimits): { passed: Promise<never>; cancel: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {}); // no caller may be waiting for it
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

/** Checks a text before it is parsed: parsing a million levels takes seconds, during which no other request is answered. */
function checkJsonDepth(text: string): void {
  let level = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x5b: // [
      case 0x7b: // {
        level += 1;
        if (level > MOST_LEVELS) throw invalidRequest(`The body is nested more than ${MOST_LEVELS} levels deep.`);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        level -= 1;
        break;
      case QUOTE:
        index = endOfString(text, index);
    }
  }
}

/** The index of the quote that ends the string. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    if (code === BACKSLASH) index += 1;
  }
  return text.length;
}
