import { describe, expect, test } from "vitest";
import type { HttpHandlerOptions } from "../../src/http/index.ts";
import { createRoutes } from "../../src/http/routes/index.ts";
import type { Route } from "../../src/http/routes/route.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { WorkflowEvent } from "../../src/workflows/define/workflow-event.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

/** In every value of another tenant, and in its ids. */
const SECRET = "secret-of-b";
const WAITING = `${SECRET}-waiting`;
const DONE = `${SECRET}-done`;
const ROUTES = createRoutes({ basePath: "", tick: true });

/** Routes that answer callers who see only some instances; a new one has to be added here, after a look at what it shows. */
const ANSWERED = [
  "listWorkflows",
  "listAllInstances",
  "listInstances",
  "createInstance",
  "createBatch",
  "deleteBatch",
  "restartOrCreate",
  "getInstance",
  "deleteInstance",
  "pauseInstance",
  "resumeInstance",
  "terminateInstance",
  "restartInstance",
  "retryInstance",
  "sendEvent",
  "sendEventToAll",
  "createOrSend",
  "completeToken",
  "explainInstance",
  "readHistory",
  "subscribe",
  "startJob",
  "listJobs",
  "getJob",
  "cancelJob",
  "readStatistics",
  "readLiveness",
  "readReadiness",
  "readSchemas",
  "readDocument",
];

/** What a hostile tenant sends to each route that takes a body. */
function bodiesFor(id: string): Readonly<Record<string, unknown>> {
  return {
    createInstance: { id, onConflict: "return" },
    createBatch: { instances: [{ id, onConflict: "return" }, { id }] },
    deleteBatch: { ids: [id] },
    sendEvent: { type: "approved", payload: "forged" },
    sendEventToAll: { labels: { tenant: "b" }, type: "approved", payload: "forged" },
    createOrSend: { event: { type: "approved", payload: "forged" } },
    restartOrCreate: { when: "always", params: "forged" },
    redriveHooks: { ids: ["one"] },
    discardHooks: { ids: ["one"] },
    cancelHooks: { name: "later", key: "b" },
    startJob: { action: "delete", instances: { all: true } },
    releaseSubject: { revision: 1 },
  };
}

/** Creates an instance of another tenant, and waits for it. */
const nesting = defineWorkflow(
  { name: "nesting" },
  async ({ payload }: WorkflowEvent<{ id: string; tenant: string }>, step) => {
    const child = await step.create("approval", { id: payload.id, labels: { tenant: payload.tenant } });
    await child.result();
  },
);

const narrowed = (tenant: string, more: object = {}): HttpHandlerOptions["authorize"] => {
  return () => ({ allow: true, labels: { tenant }, ...more });
};

/** All requests that a route takes about an instance. */
function requestsOf(route: Route, id: string, hookId: string, token: string) {
  const names: Record<string, string> = {
    workflowName: route.name === "runSchedule" ? "nightly" : "approval",
    instanceId: id,
    hookId,
    token,
    dispatcherId: "stock",
    subjectKey: SECRET,
    scheduleName: "night",
  };
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? "unknown"));
  const json = bodiesFor(id)[route.name] ?? (route.method === "POST" ? {} : undefined);
  const headers = { "content-type": "application/json" };
  const plain = { method: route.method, path, options: route.method === "POST" ? { json, headers } : {} };
  if (route.repeatable !== true) return [plain];
  const keyed = { ...headers, "idempotency-key": `key-${route.name}-${id}` };
  return [plain, { ...plain, options: { ...plain.options, headers: keyed } }];
}

describe.each(ENGINES)("tenants on $name", (engine) => {
  const subject = useHttp(engine);

  async function setUp() {
    const app = await subject.start({
      workflows: { ...workflows, nesting },
      hooks,
      tokens: { secret: "x".repeat(32) },
    });
    const operator = subject.serve(app);
    const labels = { tenant: "b" };
    await app.workflows.approval.create({ id: WAITING, params: SECRET, labels });
    const done = await app.workflows.approval.create({ id: DONE, params: SECRET, labels });
    await done.sendEvent({ type: "approved", payload: SECRET });
    await done.result();
    const { id: hookId } = await app.hooks.later.trigger(
      { text: SECRET },
      { key: "b", processAt: new Date(Date.now() + 3_600_000) },
    );
    await app.subjects.dispatcher("stock").syncSubjects({ subjects: [{ subjectKey: SECRET, cursor: SECRET }] });
    await app.workflows.approval.create({ id: "own", labels: { tenant: "a" } });
    await waitUntil("they wait", async () => {
      const { instances } = await app.workflows.approval.list({ status: "waiting" });
      return instances.length === 2;
    });
    return { app, operator, hookId };
  }

  /** Everything that is stored of the other tenant. */
  async function readOther(operator: Client): Promise<unknown[]> {
    const paths = [WAITING, DONE].flatMap((id) => {
      const path = `/workflows/approval/instances/${id}`;
      return [path, `${path}/history`, `${path}/explain`];
    });
    const others = ["/hooks?name=later", `/subjects/stock`, "/schedules", "/instances?label=tenant=b"];
    return Promise.all([...paths, ...others].map(async (path) => (await operator.get(path)).body));
  }

  test("neither see nor touch the work of another by any route", async () => {
    const { app, operator, hookId } = await setUp();
    const tenant = subject.serve(app, { authorize: narrowed("a"), tick: true, authorizeTokens: true });
    const before = await readOther(operator);
    const answered = new Set<string>();

    for (const route of ROUTES) {
      for (const id of [WAITING, DONE]) {
        for (const { method, path, options } of requestsOf(route, id, hookId, "A".repeat(60))) {
          const response = await tenant.send<Record<string, unknown> | undefined>(method, path, options);
          const { status, body } = response;
          const where = `${route.name} ${status} ${JSON.stringify(body)}`;
          expect(status, `${where}: an invalid request shows nothing`).not.toBe(400);
          expect(status, where).toBeLessThan(500);
          if (body?.["code"] !== "http.forbidden") answered.add(route.name);
          // What it has sent itself, it knows; nothing else of the other tenant is in an answer.
          const shown = JSON.stringify(body ?? null).replaceAll(path.includes(id) || options.json ? id : "\0", "");
          expect(shown, where).not.toContain(SECRET);
          const names = JSON.stringify(response.body ?? null).match(/"tenant":"b"/);
          expect(names, where).toBeNull();
        }
      }
    }

    expect([...answered].sort()).toEqual([...ANSWERED].sort());
    expect(await readOther(operator)).toEqual(before);
    const forged = (await app.workflows.approval.list({ labels: { tenant: "a" } })).instances.map(({ id }) => id);
    expect(forged.filter((id) => id.includes(SECRET))).toEqual([]);
  });

  test("see in lists and counts what has their labels, whatever they ask for", async () => {
    const { app } = await setUp();
    await app.workflows.echo.create({ id: "more", labels: { tenant: "a", kind: "x" } });
    await app.workflows.echo.create({ id: "other", labels: { tenant: "b", kind: "x" } });
    const tenant = subject.serve(app, { authorize: narrowed("a") });
    const idsAt = async (path: string) =>
      (await tenant.get<{ instances: { id: string }[] }>(path)).body.instances.map(({ id }) => id).sort();

    expect(await idsAt("/instances")).toEqual(["more", "own"]);
    expect(await idsAt("/instances?label=kind=x")).toEqual(["more"]);
    expect(await idsAt("/instances?label=tenant=b")).toEqual([]);
    expect(await idsAt("/workflows/approval/instances")).toEqual(["own"]);
    await tenant.becomes("/workflows/echo/instances/more", "complete");
    const { body } = await tenant.get<{ hooks?: unknown; instances: { total: object; workflows: object } }>("/stats");
    expect(body.hooks).toBeUndefined();
    expect(body.instances.total).toMatchObject({ total: 2, waiting: 1, complete: 1 });
    expect(body.instances.workflows).toMatchObject({ approval: { total: 1, waiting: 1 }, echo: { total: 1 } });
    const both = subject.serve(app, { authorize: () => ({ allow: true, labels: { tenant: "a", kind: "x" } }) });
    expect((await both.get<{ instances: { total: object } }>("/stats")).body.instances.total).toMatchObject({
      total: 1,
    });
  });

  test("create instances with their labels, and with no others' values of them", async () => {
    const { app } = await setUp();
    const tenant = subject.serve(app, { authorize: narrowed("a") });
    const labelsOf = async (id: string) => (await (await app.workflows.echo.get(id)).status()).labels;
    const path = "/workflows/echo/instances";

    expect((await tenant.post(path, { id: "one", labels: { kind: "x" } })).status).toBe(201);
    expect(await labelsOf("one")).toEqual({ tenant: "a", kind: "x" });
    const refused = await tenant.post(path, { id: "two", labels: { tenant: "b" } });
    expect([refused.status, refused.body["code"]]).toEqual([403, "http.forbidden"]);
    const batch = await tenant.post<{ created: unknown[]; errors: unknown[] }>(`${path}/batch`, {
      instances: [{ id: "three" }, { id: "four", labels: { tenant: "b" } }],
    });
    expect(batch.body).toMatchObject({ created: [{ id: "three" }], errors: [{ index: 1, code: "http.forbidden" }] });
    expect(await labelsOf("three")).toEqual({ tenant: "a" });
    for (const verb of ["create-or-send", "restart-or-create"]) {
      const event = verb === "create-or-send" ? { event: { type: "x" } } : {};
      const id = `new-${verb}`;
      expect((await tenant.post(`${path}/${id}/${verb}`, { ...event, labels: { tenant: "b" } })).status).toBe(403);
      expect((await tenant.post(`${path}/${id}/${verb}`, event)).body).toMatchObject({ outcome: "created" });
      expect(await labelsOf(id)).toEqual({ tenant: "a" });
    }
    expect((await tenant.post(path, { id: "one", onConflict: "return" })).status).toBe(201);
  });

  test("use their own instances by all routes", async () => {
    const { app } = await setUp();
    const tenant = subject.serve(app, { authorize: narrowed("a") });
    const path = "/workflows/approval/instances/own";
    const post = async (verb: string, json?: unknown) => (await tenant.post(`${path}/${verb}`, json)).status;

    expect((await tenant.get(`${path}/history`)).status).toBe(200);
    expect((await tenant.get(`${path}/explain`)).body).toMatchObject({ reason: { reason: "waitingForEvent" } });
    expect([await post("pause"), await post("resume"), await post("terminate")]).toEqual([204, 204, 204]);
    expect([await post("restart"), await post("events", { type: "approved", payload: 1 })]).toEqual([204, 204]);
    expect((await tenant.becomes(path, "complete"))["output"]).toBe(1);
    const ensure = await tenant.post(`${path}/restart-or-create`);
    expect(ensure.body["outcome"]).toBe("restarted");
    expect(
      (await tenant.post(`${path}/create-or-send`, { event: { type: "approved", payload: 2 } })).body,
    ).toMatchObject({
      outcome: "sent",
    });
    expect((await tenant.becomes(path, "complete"))["output"]).toBe(2);
    const all = { labels: { tenant: "a" }, type: "approved" };
    await tenant.post(`${path}/restart`);
    expect((await tenant.post("/workflows/approval/events", all)).body).toMatchObject({ sent: 1 });
    const deleted = await tenant.post("/workflows/approval/instances/batch/delete", { ids: ["own", WAITING, "none"] });
    expect(deleted.body).toMatchObject({
      deleted: [{ id: "own" }],
      errors: [
        { id: WAITING, code: "instance.not_found" },
        { id: "none", code: "instance.not_found" },
      ],
    });
  });

  test("aren't told of parents and children with other labels", async () => {
    const { app } = await setUp();
    const nest = (id: string, own: string, tenant: string) =>
      app.workflows.nesting.create({ id, params: { id: `child-of-${id}`, tenant }, labels: { tenant: own } });
    await nest("parent-a", "a", "b");
    await nest("parent-b", "b", "a");
    await nest("family", "a", "a");
    const tenant = subject.serve(app, { authorize: narrowed("a") });
    const explained = (id: string) =>
      waitUntil(`${id} waits`, async () => {
        const { body } = await tenant.get<{ reason?: { reason: string } }>(
          `/workflows/nesting/instances/${id}/explain`,
        );
        return body.reason?.reason === "waitingForChild" ? body : null;
      });
    expect(JSON.stringify(await explained("parent-a"))).not.toContain("child-of");
    expect(JSON.stringify(await explained("family"))).toContain('"child-of-family"');
    const child = await tenant.get("/workflows/approval/instances/child-of-parent-b");
    expect([child.status, child.body["parent"]]).toEqual([200, undefined]);
    const sibling = await tenant.get("/workflows/approval/instances/child-of-family");
    expect(sibling.body["parent"]).toEqual({ workflowName: "nesting", id: "family" });
    const listed = await tenant.get("/workflows/approval/instances");
    expect(JSON.stringify(listed.body)).not.toContain('"parent-b"');
    expect(JSON.stringify(listed.body)).toContain('"family"');
  });

  test("create one instance by concurrent calls that send it events, and all of these arrive", async () => {
    const { app } = await setUp();
    const tenant = subject.serve(app, { authorize: narrowed("a") });
    const ids = Array.from({ length: 20 }, (_, index) => `shared-${index}`);
    const send = (id: string) =>
      tenant.post(`/workflows/approval/instances/${id}/create-or-send`, { event: { type: "hello" } });
    for (const id of ids) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => send(id)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(answers.filter(({ body }) => body["outcome"] === "created")).toHaveLength(1);
    }
  });

  test("can't find out by guessing which instance of another is the parent of theirs", async () => {
    const { app } = await setUp();
    const nest = (id: string, own: string) =>
      app.workflows.nesting.create({ id, params: { id: `child-of-${id}`, tenant: "a" }, labels: { tenant: own } });
    await nest("theirs", "b");
    await nest("family", "a");
    const tenant = subject.serve(app, { authorize: narrowed("a") });
    const childrenOf = async (parent: string) => {
      const { body } = await tenant.get<{ instances: { id: string }[] }>(
        `/instances?parentWorkflow=nesting&parentId=${parent}`,
      );
      return body.instances.map(({ id }) => id);
    };
    const countOf = (id: string) =>
      tenant.post("/jobs", {
        action: "pause",
        instances: { parent: { workflowName: "nesting", id } },
        dryRun: true,
      });
    await waitUntil("there are children", async () => {
      const { instances } = await app.workflows.approval.list({ idPrefix: "child-of-" });
      return instances.length === 2;
    });

    expect(await childrenOf("family")).toEqual(["child-of-family"]);
    expect(await childrenOf("theirs")).toEqual([]);
    expect((await countOf("family")).body).toMatchObject({ matching: 1 });
    expect([await countOf("theirs"), await countOf("none")]).toMatchObject([
      { status: 404, body: { code: "instance.not_found" } },
      { status: 404, body: { code: "instance.not_found" } },
    ]);
  });

  test("aren't told which worker holds their instance", async () => {
    const gate = new Gate();
    const held = defineWorkflow({ name: "held" }, async (_event, step) => {
      await step.do("work", () => gate.opened);
    });
    const app = await subject.start({ workflows: { held } });
    await app.workflows.held.create({ id: "one", labels: { tenant: "a" } });
    const explain = async (client: Client) =>
      waitUntil("it is held", async () => {
        const { body } = await client.get<{ sentence: string; reason: Record<string, unknown> }>(
          "/workflows/held/instances/one/explain",
        );
        return body.reason["reason"] === "running" ? body : null;
      });
    const { worker } = (await explain(subject.serve(app))).reason;
    const shown = await explain(subject.serve(app, { authorize: narrowed("a") }));
    gate.open();

    expect(shown.reason).toMatchObject({ worker: "(hidden)", host: null });
    expect(JSON.stringify(shown)).not.toContain(worker);
  });
});
