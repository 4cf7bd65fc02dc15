import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { bodyParser } from "@koa/bodyparser";
import express, { type RequestHandler } from "express";
import fastify from "fastify";
import Koa from "koa";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/index.ts";
import { type NodeHandler, toNodeHandler } from "../../src/http/node.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

const JSON_TYPE = { "content-type": "application/json" };

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Reads the body itself and keeps it as it says. */
function reading(keep: (body: Buffer) => object): RequestHandler {
  return async (request, _response, next) => {
    Object.assign(request, keep(await readAll(request)));
    next();
  };
}

async function fastifyListener(adopt: (request: { raw: object; body: unknown }) => void, handle: NodeHandler) {
  const server = fastify();
  server.all("/*", async (request, reply) => {
    adopt(request);
    reply.hijack();
    await handle(request.raw, reply.raw);
  });
  await server.ready();
  return server.routing as RequestListener;
}

function koaListener(patchNode: boolean, handle: NodeHandler): RequestListener {
  const server = new Koa().use(bodyParser({ patchNode })).use(async (context) => {
    context.respond = false;
    await handle(context.req, context.res);
  });
  return server.callback();
}

type Listener = (handle: NodeHandler) => RequestListener | Promise<RequestListener>;

const HANDED_ON: readonly [string, Listener][] = [
  ["Fastify, as req.body", (handle) => fastifyListener(({ raw, body }) => Object.assign(raw, { body }), handle)],
  ["Koa's parser, as req.body", (handle) => koaListener(true, handle)],
  ["Express's parser, as req.body", (handle) => express().use(express.json()).use(handle)],
  [
    "a middleware, as a Buffer in req.rawBody",
    (handle) =>
      express()
        .use(reading((rawBody) => ({ rawBody })))
        .use(handle),
  ],
  [
    "a middleware, as a text in req.rawBody beside an empty req.body",
    (handle) =>
      express()
        .use(reading((raw) => ({ rawBody: raw.toString(), body: {} })))
        .use(handle),
  ],
  [
    "Express's parser of bytes",
    (handle) =>
      express()
        .use(express.raw({ type: () => true }))
        .use(handle),
  ],
  [
    "Express's parser of texts",
    (handle) =>
      express()
        .use(express.text({ type: () => true }))
        .use(handle),
  ],
];

const LOST: readonly [string, Listener][] = [
  ["Fastify has parsed", (handle) => fastifyListener(() => {}, handle)],
  ["Koa's parser has parsed", (handle) => koaListener(false, handle)],
  [
    "a middleware has read",
    (handle) =>
      express()
        .use(reading(() => ({})))
        .use(handle),
  ],
  [
    "a middleware has read beside an empty req.body",
    (handle) =>
      express()
        .use(reading(() => ({ body: {} })))
        .use(handle),
  ],
  [
    "a middleware has read in part",
    (handle) =>
      express()
        .use(async (request, _response, next) => {
          await once(request, "readable");
          request.read(1);
          next();
        })
        .use(handle),
  ],
];

describe("a body that other code has read first", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);
  let server: Server | undefined;
  let handle: NodeHandler;
  let list: () => Promise<readonly unknown[]>;
  let result: (id: string) => Promise<unknown>;

  beforeEach(async () => {
    const app = await subject.start({ workflows });
    handle = toNodeHandler(createHttpHandler(app, { authorize: () => true, logger: subject.logs }));
    result = async (id) => (await app.workflows.echo.get(id)).result();
    list = async () => (await app.workflows.echo.list()).instances;
  });

  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  });

  async function post(create: Listener, path: string, body: string, chunked = false) {
    server = createServer(await create(handle)).listen(0, "127.0.0.1");
    await once(server, "listening");
    return ask(path, body, chunked);
  }

  async function ask(path: string, body: string, chunked = false) {
    const { port } = (server as Server).address() as AddressInfo;
    const length = chunked ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const request = send({ port, host: "127.0.0.1", method: "POST", path, headers: { ...JSON_TYPE, ...length } });
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const text = (await readAll(response)).toString();
    return { status: response.statusCode, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
  }

  const creation = JSON.stringify({ id: "one", params: { of: "the caller" } });

  test.each(HANDED_ON)("is taken from %s", async (_, create) => {
    expect(await post(create, "/workflows/echo/instances", creation)).toMatchObject({
      status: 201,
      body: { id: "one" },
    });
    expect(await result("one")).toEqual({ of: "the caller" });
    const restarted = await ask("/workflows/echo/instances/one/restart", JSON.stringify({ unknown: "option" }));
    expect(restarted.status).toBe(400); // so its options arrive, too
  });

  test.each(LOST)("is refused where %s it and has left it nowhere", async (_, create) => {
    const { status, body } = await post(create, "/workflows/echo/instances", creation);

    expect([status, body["code"]]).toEqual([500, "http.body_consumed"]);
    expect(await list()).toEqual([]);
  });

  test("is refused where its length was not announced, too", async () => {
    const consuming: Listener = (handle) =>
      express()
        .use(reading(() => ({})))
        .use(handle);
    const { status, body } = await post(consuming, "/workflows/echo/instances", creation, true);

    expect([status, body["code"]]).toEqual([500, "http.body_consumed"]);
    expect(await list()).toEqual([]);
  });

  test("is not missed where none was sent", async () => {
    const consuming: Listener = (handle) =>
      express()
        .use(reading(() => ({})))
        .use(handle);
    expect((await post(consuming, "/workflows/echo/instances", "")).status).toBe(201);
  });
});
