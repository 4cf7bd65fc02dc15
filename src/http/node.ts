import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpHandler } from "./create-http-handler.ts";

/** A listener of `http.createServer`, or a handler of Express. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** As Express and the like leave it. */
type FrameworkRequest = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown };

const WITHOUT_BODY = ["GET", "HEAD"];
/** No client sends these. Somebody who guards paths before us may read them otherwise than we do. */
const DETOUR = /\\|\/(\.|%2e){1,2}(\/|$)/i;
const BAD_REQUEST = { code: "http.invalid_request", message: "The request line or a header can't be read." };

/**
 * Lets a handler serve Node's own requests: bodies and answers are streams that never run ahead of who reads them, and a client
 * that goes away aborts the request's signal.
 *
 * @example
 * http.createServer(toNodeHandler(createHttpHandler(app, options))).listen(3000);
 */
export function toNodeHandler(handler: HttpHandler): NodeHandler {
  return async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.on("error", () => gone.abort());
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) gone.abort();
    });
    try {
      const request = toRequest(incoming, gone.signal);
      const response = request === null ? Response.json(BAD_REQUEST, { status: 400 }) : await handler(request);
      await send(response, incoming, outgoing, gone.signal);
    } catch {
      outgoing.destroy(); // somebody else has answered already, or the handler isn't one of ours: no reason to end the process
    }
  };
}

/** Null where it makes no sense. */
function toRequest(incoming: FrameworkRequest, signal: AbortSignal): Request | null {
  const { method = "GET", headers: raw } = incoming;
  // A framework that has mounted us below a path has cut it off; we go by what the client sent.
  const target = incoming.originalUrl ?? incoming.url ?? "/";
  try {
    if (!target.startsWith("/")) return null;
    const scheme = "encrypted" in incoming.socket ? "https" : "http";
    const url = new URL(`${scheme}://${raw.host ?? "localhost"}`);
    const [pathname = "/", ...search] = target.split("?");
    if (DETOUR.test(pathname)) return null;
    url.pathname = pathname;
    url.search = search.join("?");
    const body = WITHOUT_BODY.includes(method) ? null : toBody(incoming);
    const init = { method, headers: toHeaders(incoming), signal, body, ...(body === null ? {} : { duplex: "half" }) };
    return new Request(url, init as RequestInit);
  } catch {
    return null;
  }
}

function toHeaders(incoming: FrameworkRequest): Headers {
  const { rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (!name.startsWith(":")) headers.append(name, rawHeaders[index + 1] as string); // those of HTTP/2 are no headers
  }
  if (wasParsed(incoming)) headers.delete("content-encoding"); // as whoever has parsed it has undone it
  return headers;
}

/** Whether a parser of the framework was here before. */
function wasParsed({ readableEnded, body }: FrameworkRequest): boolean {
  return readableEnded && body !== undefined;
}

/** Read chunk by chunk, when somebody wants the next. */
function toBody(incoming: FrameworkRequest): string | ReadableStream<Uint8Array> {
  if (wasParsed(incoming)) return JSON.stringify(incoming.body);
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

async function send(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  // What is left of a body that was refused isn't worth reading, so the connection can't be used for another request.
  if (!incoming.complete && incoming.httpVersionMajor < 2) outgoing.setHeader("connection", "close");
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  if (reader === undefined) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) break;
      if (!outgoing.write(value)) await untilRoom(outgoing, signal);
    }
    outgoing.end();
  } catch {
    outgoing.destroy(); // in the middle of an answer nothing else can be said
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Until what was written has gone, or nobody is there to read it. */
function untilRoom(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const leave = () => {
      outgoing.off("drain", leave);
      signal.removeEventListener("abort", leave);
      resolve();
    };
    outgoing.on("drain", leave);
    signal.addEventListener("abort", leave);
    if (signal.aborted) leave();
  });
}
