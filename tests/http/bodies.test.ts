import { beforeEach, describe, expect, test } from "vitest";
import { createHttpHandler, type Policy } from "../../src/http/index.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import type { Document } from "./support/document.ts";
import { workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const INSTANCES = "/workflows/sleeper/instances";
const KIBIBYTE = 1024;

describe("the body of a request", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);
  let app: Awaited<ReturnType<typeof start>>;
  let client: Client;

  const start = () => subject.start({ workflows });

  beforeEach(async () => {
    app = await start();
    client = subject.serve(app);
  });

  const stored = async () => (await app.workflows.sleeper.list()).instances.length;

  test("that is nested a million times is refused before it is parsed", async () => {
    const depth = 900_000;
    const parse = JSON.parse;
    let parsed = 0;
    JSON.parse = ((text: string, reviver?: never) => {
      if (text.length > depth) parsed += 1;
      return parse(text, reviver);
    }) as typeof JSON.parse;
    try {
      for (const [open, close] of [
        ["[", "]"],
        ['{"a":', "}"],
      ] as const) {
        const body = `{"params":${open.repeat(depth / open.length)}1${close.repeat(depth / open.length)}}`;
        const reply = await client.post(INSTANCES, undefined, { body });
        expect([reply.status, reply.body["code"]]).toEqual([400, "http.invalid_request"]);
      }
    } finally {
      JSON.parse = parse;
    }
    expect([parsed, await stored()]).toEqual([0, 0]);
  });

  test("may have brackets in its texts, as many as it likes", async () => {
    const params = { text: `${'["\\{'.repeat(50_000)}\\`, ["]".repeat(10)]: "\\\\" };
    expect((await client.post("/workflows/echo/instances", { id: "one", params })).status).toBe(201);
    expect((await client.becomes("/workflows/echo/instances/one", "complete"))["output"]).toEqual(params);
  });

  test("may be missing where a route needs none, with no content type, as generated clients send it", async () => {
    await client.post(INSTANCES, { id: "one" });
    const pause = (headers: Record<string, string>) => client.send("POST", `${INSTANCES}/one/pause`, { headers });

    expect((await pause({})).status).toBe(204);
    expect((await pause({ origin: "http://localhost", "sec-fetch-site": "same-origin" })).status).toBe(204);
    for (const headers of [
      { origin: "https://other.example" },
      { origin: "null" },
      { origin: "http://localhost", "sec-fetch-site": "cross-site" },
    ]) {
      expect((await pause(headers)).status).toBe(415);
    }
  });

  test("is described as required where it is, and only there", async () => {
    const { body } = await client.get<Document>("/openapi.json");
    const operations = Object.values(body.paths).flatMap((methods) => Object.values(methods));
    const required = new Map(
      operations.map(({ operationId, requestBody }) => [
        operationId,
        (requestBody as { required?: boolean } | undefined)?.required,
      ]),
    );
    const named = (wanted: boolean | undefined) =>
      [...required].filter(([, given]) => given === wanted).map(([name]) => name);
    expect(named(true).sort()).toEqual(
      [
        "cancelHooks",
        "createBatch",
        "createOrSend",
        "deleteBatch",
        "discardHooks",
        "redriveHooks",
        "releaseSubject",
        "sendEvent",
        "sendEventToAll",
        "startJob",
      ].sort(),
    );
    expect(named(false).sort()).toEqual(
      [
        "completeToken",
        "createInstance",
        "pauseInstance",
        "restartInstance",
        "restartOrCreate",
        "terminateInstance",
      ].sort(),
    );
    expect(required.get("resumeInstance")).toBeUndefined();
  });

  test("that was announced but is missing is reported", async () => {
    const headers = { "content-type": "application/json", "content-length": "20" };
    const handler = createHttpHandler(app, { authorize: () => true, logger: subject.logs });
    const request = new Request(`http://localhost${INSTANCES}`, { method: "POST", headers });
    const response = await handler(request);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([500, "http.body_consumed"]);
    expect(await stored()).toBe(0);
  });

  test("that middleware has read is reported as missing", async () => {
    const handler = createHttpHandler(app, { authorize: () => true, logger: subject.logs });
    const headers = { "content-type": "application/json" };
    const request = new Request(`http://localhost${INSTANCES}`, { method: "POST", headers, body: '{"id":"one"}' });
    await request.json();
    const response = await handler(request);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([500, "http.body_consumed"]);
  });

  describe("of which a policy reads a clone", () => {
    const policy: Policy = async ({ request }) => ((await request.clone().json()) as { id: string }).id !== "forbidden";

    test("is read by the policy and by the route", async () => {
      const guarded = subject.serve(app, { authorize: policy });
      expect((await guarded.post(INSTANCES, { id: "one" })).status).toBe(201);
      expect((await guarded.post(INSTANCES, { id: "forbidden" })).status).toBe(403);
      expect(await stored()).toBe(1);
    });

    test("is not read beyond what a body may be", async () => {
      const guarded = subject.serve(app, { authorize: policy, maxBodyBytes: 64 * KIBIBYTE });
      let pulled = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (++pulled > 1000) controller.close();
          else controller.enqueue(new TextEncoder().encode(" ".repeat(KIBIBYTE)));
        },
      });

      const reply = await guarded.post(INSTANCES, undefined, { body });

      expect([reply.status, reply.body["code"]]).toEqual([413, "http.body_too_large"]);
      expect(pulled).toBeLessThan(100);
      expect(await stored()).toBe(0);
    });
  });
});

describe("a request", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);

  test("to run a schedule asks the policy about the workflow that is run, too", async () => {
    const app = await subject.start({ workflows });
    const asked: unknown[] = [];
    const client = subject.serve(app, {
      authorize: ({ operation, resource }) => {
        asked.push([operation, resource]);
        return resource.kind !== "workflow" || resource.workflowName !== "nightly";
      },
    });

    expect((await client.post("/schedules/nightly/night/run")).status).toBe(403);

    expect(asked).toEqual([
      ["operate", { kind: "schedule", workflowName: "nightly", scheduleName: "night" }],
      ["create", { kind: "workflow", workflowName: "nightly" }],
    ]);
    expect((await app.workflows.nightly.list()).instances).toEqual([]);
  });

  test("below another path than basePath gets an answer that says so", async () => {
    const app = await subject.start({ workflows });
    const mounted = subject.serve(app, { basePath: "/perdure" });
    const rooted = subject.serve(app);
    const messages = await Promise.all([
      mounted.get("/api/perdure/workflows"),
      mounted.get("/workflows"),
      mounted.get("/elsewhere"),
      rooted.get("/perdure/workflows/echo/instances"),
      rooted.get("/elsewhere"),
    ]);

    expect(messages.map(({ status, body }) => [status, body["code"]])).toEqual(Array(5).fill([404, "http.not_found"]));
    expect(messages.map(({ body }) => String(body["message"]).includes("basePath"))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  test("of a page of another origin may have the headers that cors names", async () => {
    const app = await subject.start({ workflows });
    const { handler } = subject.serve(app, { cors: { origins: ["https://a.example"], headers: ["X-Tenant"] } });
    const headers = { origin: "https://a.example", "access-control-request-method": "POST" };
    const response = await handler(new Request("http://localhost/workflows", { method: "OPTIONS", headers }));
    expect(response.headers.get("access-control-allow-headers")).toMatch(/authorization.*X-Tenant/);
  });
});
