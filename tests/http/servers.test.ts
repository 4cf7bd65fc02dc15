import { once } from "node:events";
import { createServer, request as nodeRequest, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createExpressServer } from "../../examples/http-express.ts";
import { createFastifyServer } from "../../examples/http-fastify.ts";
import { createHonoServer } from "../../examples/http-hono.ts";
import { createKoaServer } from "../../examples/http-koa.ts";
import { createNodeServer } from "../../examples/http-node.ts";
import type { Servable } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { readEvents } from "./support/read-events.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

const TOKEN = "a-token-that-nobody-guesses";

const SERVERS: readonly { name: string; create: (app: Servable) => Server | Promise<Server> }[] = [
  { name: "Node", create: (app) => createNodeServer(app, TOKEN) },
  { name: "Hono", create: (app) => createServer(getRequestListener(createHonoServer(app, TOKEN).fetch)) },
  { name: "Express", create: (app) => createServer(createExpressServer(app, TOKEN)) },
  {
    name: "Express with a parser of JSON",
    create: (app) =>
      createServer(
        express()
          .use(express.json({ limit: "10mb" }))
          .use(createExpressServer(app, TOKEN)),
      ),
  },
  {
    name: "Fastify",
    create: async (app) => {
      const fastify = createFastifyServer(app, TOKEN);
      await fastify.ready();
      return fastify.server;
    },
  },
  { name: "Koa with a parser of bodies", create: (app) => createServer(createKoaServer(app, TOKEN).callback()) },
];

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(server: Server): Promise<string> {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each(SERVERS)("mounted in $name", ({ create }) => {
  const subject = useHttp(ENGINES[0] as TestEngine);

  async function setUp() {
    const origin = await listen(await create(await subject.start({ workflows, hooks })));
    const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(`${origin}/perdure${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: (text === "" ? undefined : JSON.parse(text)) as Record<string, unknown> };
    };
    return { origin, send };
  }

  test("an application is served", async () => {
    const { send } = await setUp();
    expect((await send("POST", "/workflows/approval/instances", { id: "one" })).status).toBe(201);
    expect((await send("POST", "/workflows/approval/instances/one/pause")).status).toBe(204);
    expect((await send("POST", "/workflows/approval/instances/one/resume")).status).toBe(204);
    const event = { type: "approved", payload: { by: "Ada" } };
    expect((await send("POST", "/workflows/approval/instances/one/events", event)).status).toBe(204);

    const state = await waitUntil("it is complete", async () => {
      const { body } = await send("GET", "/workflows/approval/instances/one");
      return body["status"] === "complete" ? body : null;
    });

    expect(state["output"]).toEqual({ by: "Ada" });
    const query = await send("GET", "/workflows/approval/instances?status=complete&limit=1");
    expect(query.body["instances"]).toHaveLength(1);
    expect((await send("DELETE", "/workflows/approval/instances/one")).status).toBe(204);
    expect((await send("GET", "/workflows/approval/instances/one")).status).toBe(404);
  });

  test("events are streamed as they happen, and a reader may leave", async () => {
    const { origin, send } = await setUp();
    await send("POST", "/workflows/approval/instances", { id: "one" });
    const open = () =>
      fetch(`${origin}/perdure/workflows/approval/instances/one/subscribe`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
    for await (const event of readEvents(await open())) if (event.type === "step_completed") break;
    const types: string[] = [];

    for await (const event of readEvents(await open())) {
      types.push(event.type);
      if (event.type === "step_completed") {
        await send("POST", "/workflows/approval/instances/one/events", { type: "approved" });
      }
    }

    expect(types.at(-1)).toBe("workflow_completed");
  });

  test("the router refuses requests without a token, and leaves other paths to the application", async () => {
    const { origin, send } = await setUp();
    expect((await send("GET", "/workflows", undefined, { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await fetch(`${origin}/perdure/nowhere`)).status).toBe(404);
  });

  test("a body that is too large is refused, and the server continues", async () => {
    const { send } = await setUp();
    const { status } = await send("POST", "/workflows/echo/instances", { params: "x".repeat(5_000_000) });
    expect(status).toBe(413);
    expect((await send("GET", "/workflows")).status).toBe(200);
  });
});

describe("Node's requests", () => {
  test("become the Web's, with all of their headers and the path as it was sent", async () => {
    const origin = await listen(
      createServer(
        toNodeHandler(async (request) => {
          const { method, url, headers } = request;
          return Response.json({ method, url, cookies: headers.get("x-many"), body: await request.text() });
        }),
      ),
    );
    const { port } = new URL(origin);
    const request = nodeRequest({ port, method: "POST", path: "/a%2Fb?c=d?e", headers: { "x-many": ["1", "2"] } });
    request.end("text");
    const [response] = (await once(request, "response")) as [AsyncIterable<Buffer>];
    const parts = await Array.fromAsync(response);

    expect(JSON.parse(Buffer.concat(parts).toString())).toEqual({
      method: "POST",
      url: `http://localhost:${port}/a%2Fb?c=d?e`,
      cookies: "1, 2",
      body: "text",
    });
  });

  test("that a parser has read and decompressed are taken as they are then", async () => {
    const handler: RequestListener = toNodeHandler(async (request) =>
      Response.json([request.headers.get("content-encoding"), await request.json()]),
    );
    const origin = await listen(createServer(express().use(express.json()).use(handler)));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const response = await fetch(origin, { method: "POST", headers, body: gzipSync('{"id":"x"}') });

    expect(await response.json()).toEqual([null, { id: "x" }]);
  });

  test.each([
    ["a target that isn't a path", "GET http://example.org/x HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a host that can't be", "GET / HTTP/1.1\r\nHost: a b c\r\n\r\n"],
    ["a path that leads back", "GET /a/../b HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a path that leads back in disguise", "GET /a/%2E./b HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["slashes the other way round", "GET /a\\b HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a method that the Web refuses", "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ])("with %s are answered with 400", async (_, text) => {
    const origin = await listen(createServer(toNodeHandler(async () => new Response("fine"))));
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.end(text);
    const answer = Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("whose client goes away are aborted, and their answers cancelled", async () => {
    let cancelled = false;
    let signal: AbortSignal | undefined;
    const origin = await listen(
      createServer(
        toNodeHandler(async (request) => {
          signal = request.signal;
          const body = new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
            cancel: () => {
              cancelled = true;
            },
          });
          return new Response(body);
        }),
      ),
    );
    const leaving = new AbortController();
    const response = await fetch(origin, { signal: leaving.signal });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
    expect(signal?.aborted).toBe(false);

    leaving.abort();

    await waitUntil("it is cancelled", () => cancelled && signal?.aborted === true);
  });

  test("get no more of an answer than they read", async () => {
    let pulled = 0;
    const chunk = new Uint8Array(64 * 1024);
    const pull = (controller: ReadableStreamDefaultController) => {
      pulled += 1;
      controller.enqueue(chunk);
    };
    const endless = () => new ReadableStream({ pull });
    const origin = await listen(createServer(toNodeHandler(async () => new Response(endless()))));
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await waitUntil("something was sent", () => pulled > 0);

    // It comes to a standstill, with what the sockets of both sides hold.
    let [before, looks] = [-1, 0];
    await waitUntil("nothing more is asked for", () => {
      looks = pulled === before ? looks + 1 : 0;
      before = pulled;
      return looks > 30;
    });
    expect(pulled * chunk.length).toBeLessThan(64 * 1024 * 1024);
    socket.destroy();
  });

  test("whose handler fails are answered with 500, and the error is logged", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const error = new Error("not ours");
    const origin = await listen(createServer(toNodeHandler(() => Promise.reject(error))));
    for (let request = 1; request <= 2; request++) {
      const response = await fetch(origin);
      expect([response.status, await response.text()]).toEqual([500, expect.stringContaining("http.internal")]);
      expect(logged).toHaveBeenCalledTimes(request);
    }
    expect(logged.mock.lastCall).toEqual([expect.stringContaining("failed"), { error }]);
    logged.mockRestore();
  });

  test("are answered with all cookies, each in a header of its own", async () => {
    const headers = new Headers([
      ["set-cookie", "one=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT"],
      ["set-cookie", "two=2"],
      ["x-many", "1"],
      ["x-many", "2"],
    ]);
    const origin = await listen(createServer(toNodeHandler(async () => new Response("fine", { headers }))));
    const response = await fetch(origin);
    expect(response.headers.getSetCookie()).toEqual(headers.getSetCookie());
    expect(response.headers.get("x-many")).toBe("1, 2");
  });

  test("whose bodies the handler doesn't read are answered, and the connection is closed", async () => {
    const listener: RequestListener = toNodeHandler(async () => new Response("no", { status: 413 }));
    const origin = await listen(createServer(listener));
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\nsome of it");
    const answer = Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer.toLowerCase()).toContain("connection: close");
  });
});
