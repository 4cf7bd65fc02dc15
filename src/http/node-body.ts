import type { IncomingMessage } from "node:http";

/** A request as a framework leaves it. */
export type FrameworkRequest = IncomingMessage & {
  readonly originalUrl?: string;
  /** The body as a parser left it. */
  readonly body?: unknown;
  /** The body as it was sent. */
  readonly rawBody?: unknown;
};

export type NodeBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

/** Headers that describe a body as it was sent. They don't describe one that a framework has parsed. */
export const BODY_HEADERS: readonly string[] = ["content-encoding", "content-length", "transfer-encoding"];

const WITHOUT_BODY = ["GET", "HEAD"];
/** Old parsers leave an empty object where they have parsed nothing. A client that means one sends no more than this. */
const LONGEST_EMPTY_OBJECT = 8;

/** Other code has read the body and left no copy in `rawBody` or `body`, so its content is unknown. */
export const CONSUMED: unique symbol = Symbol("consumed");

/** Whether other code has read some of the body before us. */
export function isConsumed({ readableDidRead, readableEnded }: FrameworkRequest): boolean {
  return readableDidRead || readableEnded;
}

/** The body of a request, from the framework that has read it or from the connection. */
export function toBody(incoming: FrameworkRequest): NodeBody | typeof CONSUMED {
  if (WITHOUT_BODY.includes(incoming.method ?? "GET")) return null;
  if (!isConsumed(incoming)) return toStream(incoming);
  return findParsed(incoming) ?? (isAnnounced(incoming) ? CONSUMED : null);
}

/** `rawBody` has the bytes that were sent; `body` is the result of a parser. */
function findParsed(incoming: FrameworkRequest): string | Uint8Array<ArrayBuffer> | null {
  const { rawBody, body } = incoming;
  for (const found of [rawBody, body]) {
    if (typeof found === "string" && found !== "") return found;
    if (found instanceof Uint8Array && found.length > 0) return new Uint8Array(found);
  }
  if (typeof body !== "object" || body === null || body instanceof Uint8Array) return null;
  if (Object.keys(body).length === 0 && lengthOf(incoming) > LONGEST_EMPTY_OBJECT) return null;
  return JSON.stringify(body) ?? null;
}

function isAnnounced(incoming: FrameworkRequest): boolean {
  const { readableDidRead, headers } = incoming;
  return readableDidRead || lengthOf(incoming) > 0 || headers["transfer-encoding"] !== undefined;
}

function lengthOf({ headers }: FrameworkRequest): number {
  return Number(headers["content-length"] ?? 0);
}

/** Reads a chunk from the connection when the next one is asked for. */
function toStream(incoming: FrameworkRequest): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
