import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createHttpHandler } from "../../src/http/index.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { ControlledClock } from "../support/controlled-clock.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const INSTANCES = "/workflows/echo/instances";

describe("requests", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);
  let app: Awaited<ReturnType<typeof start>>;
  let client: Client;

  const start = () => subject.start({ workflows, hooks, worker: false });
  beforeAll(async () => {
    app = await start();
    client = subject.serve(app);
  });
  afterAll(() => subject.end());

  async function stored(): Promise<number> {
    const { body } = await client.get<{ instances: unknown[] }>(INSTANCES);
    return body.instances.length;
  }

  test.each([
    ["malformed JSON", "{", "http.invalid_json"],
    ["an empty body", "", "http.invalid_request"],
    ["bytes that aren't UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "http.invalid_json"],
    ["something else than an object", "[]", "http.invalid_request"],
    ["null", "null", "http.invalid_request"],
    ["a text", '"a"', "http.invalid_request"],
    ["an unknown field", '{"type":"a","x":1}', "http.invalid_request"],
    ["a field of the prototype", '{"type":"a","__proto__":{"type":"b"}}', "http.invalid_request"],
    ["a missing field", "{}", "http.invalid_request"],
    ["a field that the prototype has", '{"constructor":1,"type":"a"}', "http.invalid_request"],
    ["a wrong type", '{"type":1}', "http.invalid_request"],
    ["a type of event that can't be", '{"type":"no spaces"}', "id.invalid"],
    ["an id that can't be", '{"type":"a","id":"\'; drop table x; --"}', "id.invalid"],
  ])("with %s are refused", async (_, body, code) => {
    const reply = await client.post(`${INSTANCES}/one/events`, undefined, { body });

    expect([reply.status, reply.body["code"]]).toEqual([400, code]);
    expect(await stored()).toBe(0);
  });

  test("say where they are wrong, without repeating what was sent", async () => {
    const { body } = await client.post(`/workflows/echo/instances/batch`, {
      instances: [{ id: "a" }, { id: 1, onConflict: "secret" }, { idd: "b" }],
    });

    expect(body["details"]).toEqual([
      { path: "body.instances[1].id", message: "must be a text" },
      { path: "body.instances[1].onConflict", message: "must be one of error, return" },
      { path: "body.instances[2]", message: expect.stringContaining('has no field "idd"') },
    ]);
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(await stored()).toBe(0);
  });

  test("for a batch that fails by the application's own fault don't say why", async () => {
    const fault = Object.assign(new Error("no such file: /etc/secret"), { code: "ENOENT" });
    const input = z.unknown().refine((value) => {
      if (value === 2) throw fault;
      return true;
    });
    const faulty = await subject.start({
      workflows: { faulty: defineWorkflow({ name: "faulty", input }, async () => {}) },
    });
    const told: unknown[] = [];
    const { status, body } = await subject
      .serve(faulty, { onError: (error) => told.push(error) })
      .post("/workflows/faulty/instances/batch", { instances: [{ params: 1 }, { params: 2 }] });

    expect([status, body["code"]]).toEqual([500, "http.internal"]);
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(told).toEqual([fault]);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/jsonp"])(
    "of the content type %o change nothing, so no page of another origin can send them unasked",
    async (type) => {
      const headers = { origin: "https://other.example", ...(type === "" ? {} : { "content-type": type }) };
      const created = await client.send("POST", INSTANCES, { headers, body: new TextEncoder().encode('{"id":"x"}') });
      const paused = await client.send("POST", `${INSTANCES}/x/pause`, { headers });

      expect([created.status, created.body["code"]]).toEqual([415, "http.unsupported_media_type"]);
      expect(paused.status).toBe(415);
      expect(await stored()).toBe(0);
    },
  );

  test("whose bodies are compressed are refused, and say why", async () => {
    const headers = { "content-encoding": "gzip" };
    const { status, body } = await client.post(INSTANCES, undefined, { headers, body: gzipSync('{"id":"x"}') });

    expect([status, body["code"]]).toEqual([415, "http.unsupported_media_type"]);
    expect(body["message"]).toContain("Content-Encoding");
    expect(await stored()).toBe(0);
  });

  test("may say how their JSON is encoded", async () => {
    const headers = { "content-type": "Application/JSON; charset=utf-8", "content-encoding": "identity" };
    expect((await client.send("POST", `${INSTANCES}/none/pause`, { headers })).status).toBe(404);
  });

  test.each([
    "?x=1",
    "?limit=0",
    "?limit=1001",
    "?limit=ten",
    "?limit=1e2",
    "?limit=1&limit=2",
    "?status=bad",
    "?createdFrom=now",
    "?label=tenant",
    "?label=tenant=a&label=tenant=b",
  ])("with the query %s are refused", async (query) => {
    const { status, body } = await client.get(`${INSTANCES}${query}`);
    expect([status, body["code"]]).toEqual([400, "http.invalid_request"]);
  });

  test.each(["?cursor=%27%3B--", "?cursor=%00", "?cursor=a/b"])(
    "with the query %s are refused by the list",
    async (query) => {
      const { status, body } = await client.get(`${INSTANCES}${query}`);
      expect([status, body["code"]]).toEqual([400, "cursor.invalid"]);
    },
  );

  test.each([
    ["/", 404],
    ["", 404],
    ["/nowhere", 404],
    ["/workflows/", 404],
    ["//workflows", 404],
    ["/workflows/echo", 404],
    ["/workflows//instances", 404],
    ["/Workflows", 404],
    ["/workflows/echo/instances/one/", 404],
    ["/workflows%2Fecho%2Finstances", 404],
    ["/workflows/echo/instances/%ff", 400],
    ["/workflows/echo/instances/%252e%252e", 400],
    ["/workflows/echo/instances/a%2Fb", 400],
    ["/workflows/echo/instances/a%00b", 400],
    ["/workflows/echo/instances/..%2f..%2fhooks", 400],
    [`/workflows/echo/instances/${"a".repeat(500)}`, 400],
    [`/workflows/echo/instances/${"a".repeat(5000)}`, 414],
    ["/workflows/echo/../../hooks", 200],
  ])("for the path %s are answered with %i", async (path, status) => {
    const reply = await client.get(path);
    expect([reply.status, typeof (reply.body["code"] ?? "")]).toEqual([status, "string"]);
  });

  test.each(["PUT", "PATCH", "HEAD", "OPTIONS", "DELETE"])(
    "with the method %s are answered with the allowed methods",
    async (method) => {
      const response = await client.handler(new Request(`http://localhost${INSTANCES}`, { method }));
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, POST"]);
    },
  );

  test("below another path than the base are not found", async () => {
    const mounted = subject.serve(app, { basePath: "/api/perdure/" });

    expect((await mounted.get("/api/perdure/workflows")).status).toBe(200);
    for (const path of ["/workflows", "/api/perdure", "/api/perdureworkflows", "/api/perdure/../workflows"]) {
      expect((await mounted.get(path)).status).toBe(404);
    }
  });

  test("that are too large are refused, before or while they are read", async () => {
    const small = subject.serve(app, { maxBodyBytes: 1000 });
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(100).fill(0x20));
      },
    });

    const told = await small.post(INSTANCES, { params: "x".repeat(2000) });
    const untold = await small.post(INSTANCES, undefined, { body: endless });
    const lied = await small.post(INSTANCES, { params: "x".repeat(2000) }, { headers: { "content-length": "5" } });

    for (const { status, body } of [told, untold, lied]) {
      expect([status, body["code"]]).toEqual([413, "http.body_too_large"]);
    }
    expect(pulled).toBeLessThan(20);
    expect(await stored()).toBe(0);
  });

  test("with a value that is too large to be stored are refused", async () => {
    const large = subject.serve(app, { maxBodyBytes: 8_000_000 });
    const { status, body } = await large.post(INSTANCES, { params: "x".repeat(3_000_000) });
    expect([status, body["code"]]).toEqual([413, "value.too_large"]);
  });

  test.each([
    ["arrays", "[".repeat(100_000) + "]".repeat(100_000)],
    ["objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["our own objects", `${'{"$perdure":"Set","value":['.repeat(20_000)}1${"]}".repeat(20_000)}`],
  ])("with %s nested without end are refused", async (_, deep) => {
    const { status, body } = await client.post(INSTANCES, undefined, { body: `{"params":${deep}}` });
    expect([status, body["code"]]).toEqual([400, "http.invalid_request"]);
    expect(await stored()).toBe(0);
  });

  test("whose bodies never end are given up", async () => {
    const clock = new ControlledClock();
    const adapter = subject.database?.reopen({ clock });
    if (adapter === undefined) throw new Error("no database");
    const { perdure } = await import("../../src/app/perdure.ts");
    await using slowApp = await perdure({ database: adapter, workflows, namespace: "slow", worker: false });
    const slow = subject.serve(slowApp, { bodyTimeoutMs: 5000 });
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":')),
      cancel: () => {
        cancelled = true;
      },
    });

    const reply = slow.post(INSTANCES, undefined, { body });
    await clock.advanceAndSettle(4999);
    await clock.advanceAndSettle(1);

    expect(await reply).toMatchObject({ status: 408, body: { code: "http.body_timeout" } });
    expect(cancelled).toBe(true);
  });

  test("are answered in JSON that is neither cached nor sniffed", async () => {
    const { headers } = await client.get("/workflows");
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("of other origins are let in where they are named", async () => {
    const open = subject.serve(app, { cors: { origins: ["https://admin.example.org"] } });
    const ask = (method: string, origin: string, more: Record<string, string> = {}) =>
      open.handler(new Request(`http://localhost${INSTANCES}`, { method, headers: { origin, ...more } }));
    const wish = { "access-control-request-method": "POST" };

    const preflight = await ask("OPTIONS", "https://admin.example.org", wish);
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([204, "GET, POST"]);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://admin.example.org");
    expect(
      (await ask("OPTIONS", "https://evil.example.org", wish)).headers.get("access-control-allow-origin"),
    ).toBeNull();
    const nowhere = new Request("http://localhost/nowhere", {
      method: "OPTIONS",
      headers: { origin: "https://admin.example.org", ...wish },
    });
    const mistaken = await open.handler(nowhere); // the browser asks, and the page is told that there is nothing
    expect([mistaken.status, mistaken.headers.get("access-control-allow-methods")]).toEqual([204, "GET, POST, DELETE"]);
    const asked = await ask("GET", "https://admin.example.org");
    expect(asked.headers.get("access-control-allow-origin")).toBe("https://admin.example.org");
    expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
    expect(asked.headers.get("access-control-expose-headers")).toContain("retry-after");
    expect((await ask("GET", "null")).headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each([
    { basePath: "perdure" },
    { basePath: "/a b" },
    { basePath: "/a//b" },
    { basePath: "/a/../b" },
    { cors: { origins: ["example.org"] } },
    { cors: { origins: ["https://*.example.org"] } },
    { cors: { origins: ["https://example.org/"] } },
    { cors: { origins: ["https://Example.org"] } },
    { cors: { origins: ["https://example.org:443"] } },
    { cors: { origins: "*", headers: ["x tenant"] } },
    { cors: { origins: "*", headers: "x-tenant" } },
    { cors: { origins: true } },
    { tick: "yes" },
    { tick: { deadline: 1 } },
    { maxBodyBytes: 0 },
    { bodyTimeoutMs: Number.NaN },
    { redact: "yes" },
    { onError: 1 },
    { unknown: 1 },
  ])("are not served with the options %o", (options) => {
    expect(() => createHttpHandler(app, { authorize: () => true, ...options } as never)).toThrow(
      expect.objectContaining({ code: "options.invalid" }),
    );
  });
});
