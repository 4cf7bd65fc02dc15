import { describe, expect, test } from "vitest";
import type { AuthorizationQuestion, HttpHandlerOptions, RequestDetails } from "../../src/http/index.ts";
import { createRoutes } from "../../src/http/routes/index.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { readEvents } from "./support/read-events.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

type Policy = (question: AuthorizationQuestion) => unknown;

const INSTANCES = "/workflows/approval/instances";
/** Streams of them stay open. */
const SUBSCRIBE = `${INSTANCES}/one/subscribe?filter=workflow_completed`;
const callerOf = ({ request }: AuthorizationQuestion) => request.headers.get("x-caller") ?? "unknown";
const as = (caller: string, more: object = {}) => ({ headers: { "x-caller": caller, ...more } });

describe("the policy of a handler", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);

  async function serve(authorize: Policy, options: Partial<HttpHandlerOptions> = {}) {
    const app = await subject.start({ workflows, hooks });
    return { app, client: subject.serve(app, { authorize: authorize as never, ...options }) };
  }

  test("receives the ids, labels, sizes, filters, events and hooks of a request", async () => {
    const told: Partial<RequestDetails>[] = [];
    const { client } = await serve(async ({ details }) => {
      told.push(await details());
      return false;
    });
    const instance = { id: "one", labels: { tenant: "a" }, params: "ä" };
    const paths: [path: string, json?: unknown][] = [
      [INSTANCES, instance],
      [`${INSTANCES}/batch`, { instances: [instance, {}] }],
      [`${INSTANCES}/batch/delete`, { ids: ["one", "two"] }],
      [`${INSTANCES}/one/events`, { type: "approved", payload: [1] }],
      [`${INSTANCES}/one/create-or-send`, { event: { type: "approved" }, labels: { tenant: "a" } }],
      [`${INSTANCES}/one/restart-or-create`, { params: 1 }],
      ["/workflows/approval/events", { labels: { tenant: "a" }, type: "approved" }],
      ["/hooks/redrive", { ids: ["h"] }],
      ["/hooks/cancel", { name: "later", key: "k" }],
    ];
    for (const [path, json] of paths) expect((await client.post(path, json)).status).toBe(403);
    await client.get("/instances?label=tenant=a&status=errored");

    const none = { instances: [], filter: null, event: null, hooks: null };
    const one = { id: "one", labels: {}, paramsBytes: 0 };
    const labels = { tenant: "a" };
    expect(told).toEqual([
      { ...none, instances: [{ id: "one", labels, paramsBytes: 4 }] },
      {
        ...none,
        instances: [
          { id: "one", labels, paramsBytes: 4 },
          { id: null, labels: {}, paramsBytes: 0 },
        ],
      },
      { ...none, instances: [one, { ...one, id: "two" }] },
      { ...none, event: { type: "approved", payloadBytes: 3 } },
      { ...none, instances: [{ ...one, labels }], event: { type: "approved", payloadBytes: 0 } },
      { ...none, instances: [{ ...one, paramsBytes: 1 }] },
      { ...none, filter: { labels }, event: { type: "approved", payloadBytes: 0 } },
      { ...none, hooks: { ids: ["h"] } },
      { ...none, hooks: { ids: [], name: "later", key: "k" } },
      { ...none, filter: { labels, status: ["errored"] } },
    ]);
  });

  test("gets the details of the very request that is done, and an invalid one is refused as such", async () => {
    const { app, client } = await serve(async ({ details }) =>
      (await details()).instances.every(({ id }) => id !== "no"),
    );
    expect((await client.post(INSTANCES, { id: "yes", params: 1 })).status).toBe(201);
    expect((await client.post(INSTANCES, { id: "no" })).status).toBe(403);
    for (const body of ['{"id":1}', "{", '{"__proto__":{"id":"x"},"nonsense":1}']) {
      const headers = { "content-type": "application/json" };
      const { status } = await client.send("POST", INSTANCES, { body, headers });
      expect(status).toBe(400);
    }
    expect((await client.get("/instances?nonsense=1")).status).toBe(400);
    expect(subject.logs.lines).toEqual([]);
    expect((await app.workflows.approval.list()).instances.map(({ id }) => id)).toEqual(["yes"]);
  });

  test.each([
    { labels: {} },
    { labels: undefined },
    { labels: { tenant: undefined } },
    { labels: { tenant: 1 } },
    { label: { tenant: "a" } },
    { payloads: "no" },
    { payloads: undefined },
    { caller: "" },
    { caller: undefined },
    { caller: "x".repeat(401) },
  ])("denies when it answers with the limits %o, which aren't any", async (limits) => {
    const { client } = await serve(() => ({ allow: true, ...limits }));
    expect((await client.get("/instances")).status).toBe(500);
    expect((await client.post(INSTANCES, {})).status).toBe(500);
    expect(subject.logs.lines.at(-1)?.details).toMatchObject({ code: "options.invalid" });
  });

  test.each([{ allow: false }, { allow: 1, labels: { a: "b" } }, { labels: { a: "b" } }])(
    "denies when it answers %o",
    async (answer) => {
      const { client } = await serve(() => answer);
      expect((await client.get("/instances")).status).toBe(403);
    },
  );

  test("can be narrowed by a caller that asks for answers without values", async () => {
    const { app, client } = await serve(() => true);
    await (await app.workflows.echo.create({ id: "one", params: "s3cret" })).result();
    const ask = (headers: Record<string, string>) => client.get("/workflows/echo/instances/one", { headers });
    const asked = await ask({ "perdure-payloads": "hidden" });

    expect(asked.body).toMatchObject({ status: "complete", output: "[REDACTED]" });
    expect(asked.headers.get("perdure-payloads")).toBe("hidden");
    expect((await ask({})).body).toMatchObject({ output: "s3cret" });
    expect((await ask({})).headers.has("perdure-payloads")).toBe(false);
    expect(await ask({ "perdure-payloads": "none" })).toMatchObject({
      status: 400,
      body: { code: "http.invalid_request" },
    });
    const search = await client.get("/instances?error=s3", { headers: { "perdure-payloads": "hidden" } });
    expect(search.status).toBe(400);
  });

  test("that hides payloads shows statuses and names, and no values by any route", async () => {
    const app = await subject.start({ workflows, hooks });
    const secret = "a-secret-value";
    await app.workflows.echo.create({ id: "one", params: secret });
    await app.workflows.failing.create({ id: "two", params: secret });
    await app.hooks.breaks.trigger({ text: secret });
    await app.subjects
      .dispatcher("stock")
      .syncSubjects({ subjects: [{ subjectKey: "s", cursor: secret, meta: secret }] });
    const reader = subject.serve(app, { authorize: () => ({ allow: true, payloads: false }), stackTraces: true });
    await reader.becomes("/workflows/echo/instances/one", "complete");
    const failed = await reader.becomes("/workflows/failing/instances/two", "errored");
    expect(failed["error"]).toMatchObject({ name: "TypeError" });
    const [hook] = (
      await waitUntil("the hook is dead", async () => {
        const { body } = await reader.get<{ hooks: { id: string }[] }>("/hooks?status=failed");
        return body.hooks.length > 0 ? body : null;
      })
    ).hooks;
    const job = await app.jobs.start({ action: "pause", instances: { workflow: "echo" } });
    let read = 0;
    for (const { method, path, name } of createRoutes({ basePath: "", tick: false })) {
      if (method !== "GET") continue;
      for (const [workflow, id] of [
        ["echo", "one"],
        ["failing", "two"],
      ] as const) {
        const filled = path
          .replace("{workflowName}", workflow)
          .replace("{instanceId}", id)
          .replace("{hookId}", hook?.id ?? "")
          .replace("{jobId}", job.id)
          .replace("{dispatcherId}", "stock")
          .replace("{subjectKey}", "s");
        const query =
          name === "subscribe" ? "?filter=workflow_started&filter=workflow_completed&filter=workflow_errored" : "";
        const response = await reader.handler(new Request(`http://localhost${filled}${query}`));
        const text = await response.text();
        expect(response.status, `${name} ${text}`).toBe(200);
        expect(text, name).not.toContain(secret);
        read += 1;
      }
    }
    expect(read).toBeGreaterThan(30);
    for (const list of ["/instances", "/workflows/failing/instances", "/hooks"]) {
      expect((await reader.get(`${list}?error=secret`)).status, list).toBe(400); // its texts could be guessed by searching
    }
  });

  test("limits the requests that each caller has under way", async () => {
    const { client } = await serve((question) => ({ allow: true, caller: callerOf(question) }), {
      maxRequestsPerCaller: 2,
    });
    const slow = () => {
      const { readable, writable } = new TransformStream<Uint8Array>();
      const headers = { "content-type": "application/json", ...as("a").headers };
      return { writable, reply: client.send("POST", INSTANCES, { body: readable, headers }) };
    };
    const waiting = [slow(), slow()];
    const refused = await waitUntil("it is refused", async () => {
      const reply = await client.get("/instances", as("a"));
      return reply.status === 429 ? reply : null;
    });
    expect([refused.body["code"], refused.headers.get("retry-after")]).toEqual(["http.too_many_requests", "1"]);
    expect((await client.get("/instances", as("b"))).status).toBe(200);
    for (const { writable, reply } of waiting) {
      await writable.getWriter().close();
      await reply;
    }
    expect((await client.get("/instances", as("a"))).status).toBe(200);
  });

  test("limits the streams of each caller, and frees the place of one that is closed", async () => {
    const { app, client } = await serve((question) => ({ allow: true, caller: callerOf(question) }), {
      maxStreamsPerCaller: 1,
    });
    await app.workflows.approval.create({ id: "one" });
    const open = (caller: string) => client.handler(new Request(`http://localhost${SUBSCRIBE}`, as(caller)));
    const first = await open("a");
    expect([first.status, (await open("a")).status]).toEqual([200, 429]);
    const other = await open("b");
    expect(other.status).toBe(200);
    await other.body?.cancel();
    await first.body?.cancel();
    const again = await open("a");
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  test("ends a stream that it no longer allows, or allows differently, or that is too old", async () => {
    let answer: unknown = { allow: true, caller: "a" };
    let asked = 0;
    const policy = () => {
      asked += 1;
      return answer;
    };
    const { app, client } = await serve(policy, { recheckMs: 10 });
    await app.workflows.approval.create({ id: "one", labels: { tenant: "a" } });
    const open = async (of: Client = client) =>
      Array.fromAsync(readEvents(await of.handler(new Request(`http://localhost${SUBSCRIBE}`))));
    for (const next of [false, "unauthenticated", { allow: true, caller: "b" }, { allow: true, payloads: false }]) {
      answer = { allow: true, caller: "a" };
      const stream = open();
      const before = asked;
      await waitUntil("it is asked again, and again", () => asked > before + 2);
      answer = next;
      expect(await stream).toEqual([]);
    }
    answer = { allow: true, labels: { tenant: "a" } };
    const narrowed = open();
    const before = asked;
    await waitUntil("it is asked again", () => asked > before + 2);
    await (await app.workflows.approval.get("one")).delete();
    await app.workflows.approval.create({ id: "one", labels: { tenant: "b" } });
    expect(await narrowed).toEqual([]);
    answer = true;
    const old = subject.serve(app, { authorize: () => true, maxStreamAgeMs: 100 });
    expect(await open(old)).toEqual([]);
  });
});

describe.each(ENGINES)("idempotency keys of callers on $name", (engine) => {
  const subject = useHttp(engine);

  test("belong to the caller that the policy names, or to the labels that it sees", async () => {
    const app = await subject.start({ workflows });
    const named = subject.serve(app, { authorize: (question) => ({ allow: true, caller: callerOf(question) }) });
    const labelled = subject.serve(app, {
      authorize: (question) => ({ allow: true, labels: { tenant: callerOf(question) } }),
    });
    for (const client of [named, labelled]) {
      const create = async (caller: string) => {
        const options = as(caller, { "content-type": "application/json", "idempotency-key": "same" });
        const { status, body } = await client.post("/workflows/echo/instances", { params: 1 }, options);
        expect(status).toBe(201);
        return body["id"];
      };
      const [a, b] = [await create("a"), await create("b")];
      expect([await create("a"), await create("b")]).toEqual([a, b]);
      expect(a).not.toBe(b);
    }
    expect((await app.workflows.echo.list()).instances).toHaveLength(4);
  });

  test("of one caller aren't mixed up when it sees other instances than before", async () => {
    const app = await subject.start({ workflows });
    const client = subject.serve(app, {
      authorize: ({ request }) => ({
        allow: true,
        caller: "a",
        labels: { tenant: request.headers.get("x-tenant") ?? "" },
      }),
    });
    const create = (tenant: string) =>
      client.post("/workflows/echo/instances", {}, { headers: { "x-tenant": tenant, "idempotency-key": "same" } });
    expect((await create("x")).status).toBe(201);
    expect((await create("y")).body["code"]).toBe("http.idempotency_conflict");
    expect((await create("x")).status).toBe(201);
  });
});
