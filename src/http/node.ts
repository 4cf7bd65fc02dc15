import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpHandler } from "./create-http-handler.ts";
import { BODY_HEADERS, CONSUMED, type FrameworkRequest, isConsumed, toBody } from "./node-body.ts";

/** A listener of `http.createServer`, or a handler of Express. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** No client sends these. Somebody who guards paths before us may read them otherwise than we do. */
const DETOUR = /\\|\/(\.|%2e){1,2}(\/|$)/i;
const BAD_REQUEST = { code: "http.invalid_request", message: "The request line or a header can't be read." };
/** It is the server's own code that has to be repaired. The client is told, because no other answer would be true. */
const BODY_CONSUMED = {
  code: "http.body_consumed",
  message:
    "The request has a body, but other code on the server has read it first and left it neither in req.body nor in req.rawBody. " +
    "Nothing was done. Mount Perdure before parsers of bodies, or set req.body to what they have parsed.",
};

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
      const response = request instanceof Response ? request : await handler(request);
      await send(response, incoming, outgoing, gone.signal);
    } catch {
      outgoing.destroy(); // somebody else has answered already, or the handler isn't one of ours: no reason to end the process
    }
  };
}

/** Or the answer to a request that no handler can be asked. */
function toRequest(incoming: FrameworkRequest, signal: AbortSignal): Request | Response {
  const { method = "GET", headers: raw } = incoming;
  // A framework that has mounted us below a path has cut it off; we go by what the client sent.
  const target = incoming.originalUrl ?? incoming.url ?? "/";
  try {
    if (!target.startsWith("/")) return badRequest();
    const scheme = "encrypted" in incoming.socket ? "https" : "http";
    const url = new URL(`${scheme}://${raw.host ?? "localhost"}`);
    const [pathname = "/", ...search] = target.split("?");
    if (DETOUR.test(pathname)) return badRequest();
    url.pathname = pathname;
    url.search = search.join("?");
    const body = toBody(incoming);
    if (body === CONSUMED) return Response.json(BODY_CONSUMED, { status: 500 });
    const init = { method, headers: toHeaders(incoming), signal, body, ...(body === null ? {} : { duplex: "half" }) };
    return new Request(url, init as RequestInit);
  } catch {
    return badRequest();
  }
}

function badRequest(): Response {
  return Response.json(BAD_REQUEST, { status: 400 });
}

function toHeaders(incoming: FrameworkRequest): Headers {
  const { rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (!name.startsWith(":")) headers.append(name, rawHeaders[index + 1] as string); // those of HTTP/2 are no headers
  }
  if (isConsumed(incoming)) for (const name of BODY_HEADERS) headers.delete(name);
  return headers;
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
  reader.closed.catch(() => outgoing.destroy()); // also while a slow reader keeps us waiting
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
