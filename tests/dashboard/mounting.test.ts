import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDashboard } from "../../src/dashboard/index.ts";
import type { HttpHandler } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node.ts";
import { type Application, defineWorkflow, perdure } from "../../src/index.ts";

const order = defineWorkflow({ name: "order" }, async () => {});
const BASE = "/admin/ops";

const SERVERS: readonly (readonly [name: string, mount: (dashboard: HttpHandler) => RequestListener])[] = [
  ["Node", toNodeHandler],
  ["Express", (dashboard) => express().use(BASE, toNodeHandler(dashboard))],
  ["Express with a parser of JSON", (dashboard) => express().use(express.json()).use(BASE, toNodeHandler(dashboard))],
  [
    "Hono",
    (dashboard) => {
      const server = new Hono();
      server.all(BASE, ({ req }) => dashboard(req.raw));
      server.all(`${BASE}/*`, ({ req }) => dashboard(req.raw));
      return getRequestListener(server.fetch);
    },
  ],
];

let app: Application<Record<never, never>, { order: typeof order }>;

beforeAll(async () => {
  app = await perdure({ database: ":memory:", workflows: { order } });
});

afterAll(() => app.stop({ deadlineMs: 0 }));

test.each(SERVERS)("the dashboard is mounted below a path in %s", async (_name, mount) => {
  const dashboard = createDashboard(app, { basePath: BASE, authorize: () => true, actions: true });
  const server = createServer(mount(dashboard)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const bare = await fetch(`${origin}${BASE}`, { redirect: "manual" });
    expect([bare.status, bare.headers.get("location")]).toEqual([308, `${BASE}/`]);
    const html = await (await fetch(`${origin}${BASE}/workflows/order/one%2Ftwo`)).text();
    const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
    expect(script).toMatch(/^\/admin\/ops\/assets\//);
    const loaded = await fetch(`${origin}${script}`);
    expect([loaded.status, loaded.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    const headers = { "content-type": "application/json", "perdure-dashboard": "1" };
    const request = { method: "POST", headers, body: '{ "labels": { "kind": "test" } }' };
    const created = await fetch(`${origin}${BASE}/api/workflows/order/instances`, request);
    expect(created.status).toBe(201);
    const changes = new AbortController();
    const stream = await fetch(`${origin}${BASE}/changes`, { signal: changes.signal });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    changes.abort();
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
