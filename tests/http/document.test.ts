import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { perdure } from "../../src/app/perdure.ts";
import { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from "../../src/http/index.ts";
import { defineSubjects } from "../../src/subjects/define-subjects.ts";
import { writeTarget } from "../../src/workflows/tokens/step-token.ts";
import { TokenKeys } from "../../src/workflows/tokens/token-keys.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES, type TestEngine, type TestStore } from "../support/engines.ts";
import { type Document, findOperation, type Operation, operationsOf, problemOf } from "./support/document.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { Client } from "./support/use-http.ts";

const BASE = "/api/perdure";
const SECRET = "a secret of more than thirty-two characters";
/** A token of an instance that isn't there any more. */
let gone = "";

function tokenFor(name: string, id: string, run: { ref: string; run: number }): Promise<string> {
  return new TokenKeys("app", [SECRET]).seal(writeTarget({ name, id, ...run, step: { name: "wait", count: 1 } }));
}

describe("the OpenAPI document", () => {
  let database: TestStore;
  let app: Awaited<ReturnType<typeof start>>;
  let document: Document;
  let client: Client;
  /** Which answers of which operations were seen, and what was wrong with any. */
  const seen = new Map<string, Set<number>>();
  const problems: string[] = [];

  const start = () =>
    perdure({
      database: database.adapter,
      workflows,
      hooks,
      subjects: { inventory: defineSubjects({ every: "1 hour", handle: async () => {} }) },
      logger: new LogBook(),
      tokens: { secret: SECRET },
    });

  function serve(options: Partial<HttpHandlerOptions> = {}): HttpHandler {
    const open = { basePath: BASE, authorize: () => true, authorizeTokens: true, tick: true };
    const settings = { ...open, logger: new LogBook(), ...options };
    return createHttpHandler(app, settings as HttpHandlerOptions);
  }

  /** Asks, and holds the answer against the document. */
  function watched(handler: HttpHandler): Client {
    return new Client(async (request) => {
      const url = new URL(request.url);
      const asked = new Request(`http://localhost${BASE}${url.pathname}${url.search}`, request);
      const response = await handler(asked);
      const operation = findOperation(document, request.method, url.pathname);
      const statuses = seen.get(operation.operationId) ?? new Set();
      seen.set(operation.operationId, statuses.add(response.status));
      const stream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (stream) await response.body?.cancel();
      const text = stream ? "" : await response.text();
      const problem = problemOf(document, operation, response, text);
      if (problem !== null) problems.push(problem);
      return new Response(text === "" ? null : text, response);
    });
  }

  beforeAll(async () => {
    database = await (ENGINES[0] as TestEngine).create();
    app = await start();
    gone = await tokenFor("approval", "gone", { ref: "gone", run: 1 });
    const response = await serve()(new Request(`http://localhost${BASE}/openapi.json`));
    document = (await response.json()) as Document;
    client = watched(serve());
  });
  afterAll(async () => {
    await app.stop({ deadlineMs: 0 });
    await database.dispose();
  });

  test("is valid, and says where it is served", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document) as never);

    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    expect(document.openapi).toBe("3.1.0");
    expect(document.servers).toEqual([{ url: BASE }]);
    expect(operationsOf(document).length).toBeGreaterThan(20);
  });

  test("leaves the tick out where there is none", async () => {
    const response = await serve({ tick: false })(new Request(`http://localhost${BASE}/openapi.json`));
    const { paths } = (await response.json()) as Document;
    expect(Object.keys(document.paths)).toContain("/_runner/tick");
    expect(Object.keys(paths)).not.toContain("/_runner/tick");
  });

  test("describes what is answered when all goes well", async () => {
    await useEverything(client, app);

    expect(problems).toEqual([]);
    const unseen = operationsOf(document).flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .filter((status) => status.startsWith("2") && seen.get(operationId)?.has(Number(status)) !== true)
        .map((status) => `${operationId} ${status}`),
    );
    expect(unseen).toEqual([]);
  });

  test("describes every error that it names, and no other is answered", async () => {
    const body = '{"nonsense":true}';
    for (const operation of operationsOf(document)) {
      const { method } = operation;
      const path = fill(operation.path);
      const json = { headers: { "content-type": "application/json" } };
      const send = (options: Partial<HttpHandlerOptions>, query = "", request: object = json) =>
        watched(serve(options)).send(method, `${path}${query}`, request);
      await send({}, "?nonsense=1");
      await send({ authorize: () => "unauthenticated" });
      await send({ authorize: () => false });
      await send({ authorize: () => Promise.reject(new Error()) });
      const limited = watched(
        serve({ authorize: () => ({ allow: true, caller: "a" }), authorizeTokens: true, maxRequestsPerCaller: 1 }),
      );
      await Promise.all([1, 2].map(() => limited.send(method, path, { ...json, ...valid(operation) })));
      if (method !== "GET") await send({}, "", { ...json, body });
      if (method !== "POST") continue;
      await send({}, "", { body: new TextEncoder().encode("{}") });
      await send({ maxBodyBytes: 5 }, "", { ...json, body });
      await send({ bodyTimeoutMs: 1 }, "", { ...json, body: new ReadableStream() });
    }
    await askForNothing(client);
    const tenant = watched(serve({ authorize: () => ({ allow: true, labels: { tenant: "a" } }) }));
    const parent = { workflowName: "echo", id: "of another tenant" };
    await tenant.post("/jobs", { action: "pause", instances: { parent } });
    await contradict(client, app);
    await database.store.close();
    for (const operation of operationsOf(document))
      await client.send(operation.method, fill(operation.path), valid(operation));

    expect(problems).toEqual([]);
    const unseen = operationsOf(document).flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .filter((status) => seen.get(operationId)?.has(Number(status)) !== true)
        .map((status) => `${operationId} ${status}`),
    );
    expect(unseen).toEqual([]);
  });
});

type App = Awaited<ReturnType<typeof perdure<typeof hooks, typeof workflows>>>;

/** Whatever there is, once. */
async function useEverything(client: Client, app: App): Promise<void> {
  await client.get("/openapi.json");
  await client.get("/workflows");
  await client.get("/workflows/echo/versions");
  await client.get("/workflows/echo/schemas");
  await client.get("/workers");
  await client.get("/workers/unclaimed");
  await client.post("/workflows/echo/instances", { id: "one", params: { $perdure: "bigint", value: "1" } });
  await client.post("/workflows/echo/instances/batch", { instances: [{ id: "two" }, {}] });
  await client.post("/workflows/failing/instances", { id: "one" });
  await client.becomes("/workflows/echo/instances/one", "complete");
  await client.becomes("/workflows/failing/instances/one", "errored");
  await client.post("/workflows/unsure/instances", { id: "one" });
  await client.becomes("/workflows/unsure/instances/one", "errored");
  await client.post("/workflows/unsure/instances/one/retry");
  await client.get("/workflows/echo/instances?limit=1");
  await client.get("/instances");
  await client.post("/workflows/echo/instances/two/restart-or-create", { labels: { a: "b" } });
  await client.post("/workflows/echo/instances/three/create-or-send", { event: { type: "a" } });
  await client.post("/workflows/echo/events", { type: "a", labels: { a: "b" } });
  await client.post("/workflows/echo/instances/batch/delete", { ids: ["two", "none"] });
  await client.get("/workflows/failing/instances");
  await client.post("/workflows/approval/instances", { id: "one" });
  await client.post("/workflows/approval/instances/one/pause");
  await client.post("/workflows/approval/instances/one/resume");
  await client.post("/workflows/approval/instances/one/events", { type: "approved", payload: { by: "Ada" } });
  await client.becomes("/workflows/approval/instances/one", "complete");
  await client.post("/workflows/approval/instances/one/restart");
  await client.get("/workflows/approval/instances/one/history");
  await client.get("/workflows/approval/instances/one/explain");
  await client.get("/workflows/approval/instances/one/subscribe");
  await client.get(`/workflows/echo/instances/one/subscribe?cursor=${2 ** 34}`); // after the end of the first run
  await client.becomes("/workflows/approval/instances/one", "waiting");
  const name = { namespace: "app", name: "approval", id: "one" };
  const [approval] = await app.parts.store.instances.statements.find([name]);
  await client.post(`/tokens/${await tokenFor("approval", "one", approval as { ref: string; run: number })}`);
  await client.post("/workflows/approval/instances/one/terminate");
  await client.delete("/workflows/approval/instances/one");

  const { id } = await app.hooks.later.trigger(
    { text: "a" },
    { processAt: new Date(Date.now() + 3_600_000), key: "k" },
  );
  await app.hooks.breaks.trigger({ text: "a" });
  await client.get("/hooks");
  await client.get(`/hooks/${id}`);
  await client.get(`/hooks/${id}/explain`);
  await client.post("/hooks/redrive", { ids: [id] });
  await client.post("/hooks/discard", { ids: [id] });
  await client.post("/hooks/cancel", { name: "later", key: "k" });
  await client.post("/jobs", { action: "redrive", hooks: { name: "breaks" }, dryRun: true });
  const { body } = await client.post("/jobs", { action: "retry", instances: { workflow: "echo" } });
  await client.get("/jobs");
  await client.get(`/jobs/${body["id"]}`);
  await client.post(`/jobs/${body["id"]}/cancel`);

  const dispatcher = app.subjects.dispatcher("inventory");
  await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a", nextDueAt: new Date(Date.now() + 3_600_000) }] });
  await client.get("/subjects");
  await client.get("/subjects/inventory");
  await client.get("/subjects/inventory/a");
  const other = app.subjects.dispatcher("other"); // no other process claims from this one
  await other.syncSubjects({ subjects: [{ subjectKey: "a" }] });
  const [claimed] = await other.claimDueSubjects({ limit: 1, leaseMs: 60_000 });
  await client.post("/subjects/other/a/release", { revision: claimed?.revision });
  await client.post("/subjects/inventory/a/due");

  await client.get("/schedules");
  await client.post("/schedules/nightly/night/pause");
  await client.post("/schedules/nightly/night/resume");
  await client.post("/schedules/nightly/night/run");
  await client.get("/stats");
  await client.get("/lines");
  await client.get("/workers");
  await client.get("/workers/unclaimed");
  await client.get("/metrics", { headers: { accept: "application/json" } });
  await client.get("/activity");
  await client.get("/health/live");
  await client.get("/health/ready");
  await client.get("/workflows/approval/versions");
  await client.post("/_runner/tick");
}

/** What isn't there. */
async function askForNothing(client: Client): Promise<void> {
  await client.get("/workflows/nothing/versions");
  await client.get("/workflows/nothing/schemas");
  for (const rest of ["", "/history", "/explain", "/subscribe"])
    await client.get(`/workflows/echo/instances/none${rest}`);
  for (const verb of ["pause", "resume", "terminate", "restart", "retry"]) {
    await client.post(`/workflows/echo/instances/none/${verb}`);
  }
  await client.post("/workflows/echo/instances/none/events", { type: "a" });
  await client.delete("/workflows/echo/instances/none");
  await client.get("/workflows/none/instances");
  await client.get("/workflows/none/versions");
  await client.post("/workflows/none/instances", {});
  await client.post("/workflows/none/instances/batch", { instances: [{}] });
  await client.post("/workflows/none/instances/batch/delete", { ids: ["a"] });
  await client.post("/workflows/none/instances/one/restart-or-create");
  await client.post("/workflows/none/instances/one/create-or-send", { event: { type: "a" } });
  await client.post("/workflows/none/events", { type: "a", labels: { a: "b" } });
  await client.post("/tokens/none");
  await client.get("/jobs/none");
  await client.post("/jobs/none/cancel");
  await client.get("/hooks/none");
  await client.get("/hooks/none/explain");
  await client.get("/subjects/inventory/none");
  await client.post("/subjects/inventory/none/release", { revision: 1 });
  await client.post("/subjects/inventory/none/due");
  for (const verb of ["pause", "resume", "run"]) await client.post(`/schedules/nightly/none/${verb}`);
}

/** What contradicts what is stored. */
async function contradict(client: Client, app: App): Promise<void> {
  await client.post("/workflows/echo/instances", { id: "one" });
  for (const verb of ["pause", "resume", "terminate", "retry"])
    await client.post(`/workflows/echo/instances/one/${verb}`);
  await client.post("/workflows/echo/instances/one/events", { type: "a" });
  await client.post("/workflows/echo/instances/one/create-or-send", { event: { type: "a" } });
  await client.post(`/tokens/${gone}`);
  const used = { headers: { "idempotency-key": "used" } };
  await client.post("/workflows/echo/instances", { id: "two" }, used);
  await client.post("/workflows/echo/instances/batch", { instances: [{}] }, used);
  await client.post("/workflows/echo/instances/batch/delete", { ids: ["two"] }, used);
  await client.delete("/workflows/echo/instances/two", used);
  for (const verb of ["restart", "restart-or-create"])
    await client.post(`/workflows/echo/instances/two/${verb}`, undefined, used);
  for (const verb of ["redrive", "discard"]) await client.post(`/hooks/${verb}`, { ids: ["a"] }, used);
  await client.post("/hooks/cancel", { id: "a" }, used);
  await client.post("/jobs", { action: "pause", instances: { all: true } }, used);
  await client.post("/jobs/one/cancel", undefined, used);
  for (const verb of ["pause", "resume", "run"]) await client.post(`/schedules/nightly/night/${verb}`, undefined, used);
  const other = app.subjects.dispatcher("other");
  await client.post("/subjects/other/a/release", { revision: 1 });
  await other.claimDueSubjects({ limit: 1, leaseMs: 60_000 });
  await client.post("/subjects/other/a/due");
}

function fill(path: string): string {
  return path
    .replace("{workflowName}", "nightly")
    .replace("{scheduleName}", "night")
    .replace("{token}", gone)
    .replaceAll(/\{\w+\}/g, "one");
}

/** A request that is refused for no fault of its own. */
function valid({ operationId, method }: Operation): { headers?: Record<string, string>; json?: unknown } {
  const bodies: Record<string, unknown> = {
    createBatch: { instances: [{}] },
    deleteBatch: { ids: ["a"] },
    sendEvent: { type: "a" },
    createOrSend: { event: { type: "a" } },
    sendEventToAll: { type: "a", labels: { a: "b" } },
    redriveHooks: { ids: ["a"] },
    discardHooks: { ids: ["a"] },
    cancelHooks: { id: "a" },
    startJob: { action: "pause", instances: { all: true } },
    releaseSubject: { revision: 1 },
  };
  return method === "POST" ? { headers: { "content-type": "application/json" }, json: bodies[operationId] } : {};
}
