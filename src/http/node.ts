import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { consoleLogger } from "../logger.ts";
import type { HttpHandler } from "./create-http-handler.ts";
import { BODY_HEADERS, CONSUMED, type FrameworkRequest, isConsumed, toBody } from "./node-body.ts";

/** A listener of `http.createServer`, or a handler of Express. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** No client sends these. A proxy that guards paths may read them differently than this code does. */
const DETOUR = /\\|\/(\.|%2e){1,2}(\/|$)/i;
const BAD_REQUEST = { code: "http.invalid_request", message: "The request line or a header can't be read." };
/** A fault in the server's own code. The client gets this answer because no other would be true. */
const BODY_CONSUMED = {
  code: "http.body_consumed",
  message:
    "The request has a body, but other code on the server has read it first and left it neither in req.body nor in req.rawBody. " +
    "Nothing was done. Mount Perdure before body parsers, or set req.body to the parsed body.",
};
/** The handler isn't ours, for ours never rejects: most likely a Worker's. */
const FAILED = { code: "http.internal", message: "The server failed. Its log says why." };

/**
 * Lets a handler serve Node's own requests. Bodies and answers are streams with backpressure, and a client that disconnects
 * aborts the request's signal. A handler that throws is answered with 500, and its error goes to the console.
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
      const response = request instanceof Response ? request : await answer(handler, request);
      await send(response, incoming, outgoing, gone.signal);
    } catch {
      outgoing.destroy(); // other code has answered already: no reason to end the process
    }
  };
}

async function answer(handler: HttpHandler, request: Request): Promise<Response> {
  try {
    const response: Response | undefined = await handler(request);
    if (typeof response?.status !== "number") throw new TypeError("The handler of a request must return a Response.");
    return response;
  } catch (error) {
    if (!request.signal.aborted) consoleLogger.error("The handler of a request failed.", { error });
    return Response.json(FAILED, { status: 500 });
  }
}

/** The Web's form of a request, or the answer to one that has no such form. */
function toRequest(incoming: FrameworkRequest, signal: AbortSignal): Request | Response {
  const { method = "GET", headers: raw } = incoming;
  // A framework that mounts the handler below a path removes that path from `url`; `originalUrl` is what the client sent.
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
    if (!name.startsWith(":")) headers.append(name, rawHeaders[index + 1] as string); // pseudo-headers of HTTP/2
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
  // The rest of a refused body isn't read, so the connection can't be used for another request.
  if (!incoming.complete && incoming.httpVersionMajor < 2) outgoing.setHeader("connection", "close");
  outgoing.writeHead(response.status, toOutgoing(response.headers));
  const reader = response.body?.getReader();
  if (reader === undefined) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const cancel = () => void reader.cancel().catch(() => {});
  reader.closed.catch(() => outgoing.destroy()); // also while a write waits for a slow reader
  signal.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) break;
      if (!outgoing.write(value)) await untilRoom(outgoing, signal);
    }
    outgoing.end();
  } catch {
    outgoing.destroy(); // in the middle of an answer there is no other way to report it
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Each cookie has a header of its own; of all others there is one. */
function toOutgoing(headers: Headers): OutgoingHttpHeaders {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length === 0 ? {} : { "set-cookie": cookies }) };
}

/** Resolves when the written data was sent, or the client has disconnected. */
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
