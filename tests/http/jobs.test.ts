import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import type { AuthorizationQuestion, RequestDetails } from "../../src/http/index.ts";
import type { AuditedChange } from "../../src/monitoring/audit.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

interface WireJob {
  readonly id: string;
  readonly state: string;
  readonly endedAt: string | null;
  readonly done: number;
}

describe.each(ENGINES)("jobs over HTTP on $name", (engine) => {
  const subject = useHttp(engine);

  async function setUp() {
    const changes: AuditedChange[] = [];
    const app = await subject.start({ workflows, hooks, onAudit: (change) => void changes.push(change) });
    for (const tenant of ["a", "b"]) {
      await app.workflows.approval.createBatch([
        { id: `${tenant}-1`, labels: { tenant } },
        { id: `${tenant}-2`, labels: { tenant } },
      ]);
    }
    await waitUntil("they wait", async () => (await app.workflows.approval.counts()).waiting === 4);
    return { app, changes, client: subject.serve(app) };
  }

  const ended = (client: Client, { id }: WireJob) =>
    waitUntil("the job ends", async () => {
      const { body } = await client.get<WireJob>(`/jobs/${id}`);
      return body.endedAt === null ? null : body;
    });

  test("count first, run, and are read and listed", async () => {
    const { app, client } = await setUp();
    const request = { action: "pause", instances: { status: ["waiting"], labels: { tenant: "a" } } };
    const counted = await client.post("/jobs", { ...request, dryRun: true });
    expect([counted.status, counted.body]).toEqual([200, { dryRun: true, matching: 2, bounded: false }]);
    expect((await client.get("/jobs")).body).toEqual({ jobs: [], cursor: null });

    const createdFrom = "2020-01-01T00:00:00.000Z";
    const started = await client.post<WireJob>("/jobs", {
      ...request,
      instances: { ...request.instances, createdFrom },
    });
    expect(started.status).toBe(201);
    expect(started.body).toMatchObject({ action: "pause", target: "instances", matching: 2, actor: null });
    const job = await ended(client, started.body);
    expect(job).toMatchObject({
      filter: { ...request.instances, createdFrom },
      options: {},
      state: "finished",
      done: 2,
      skipped: 0,
      failed: 0,
      errors: [],
    });
    expect((await client.get("/jobs")).body).toEqual({ jobs: [job], cursor: null });
    expect(await app.workflows.approval.counts()).toMatchObject({ paused: 2, waiting: 2 });
  });

  test("redrive hooks, and are cancelled", async () => {
    const { app, client } = await setUp();
    await app.hooks.breaks.trigger({ text: "glass" });
    await waitUntil("it is dead", async () => (await app.durableHooks.deadLetters()).hooks[0]);
    const { body } = await client.post<WireJob>("/jobs", { action: "redrive", hooks: { name: "breaks" } });
    expect(await ended(client, body)).toMatchObject({ target: "hooks", state: "finished", done: 1 });
    const cancelled = await client.post<WireJob>(`/jobs/${body.id}/cancel`);
    expect([cancelled.status, cancelled.body.state]).toEqual([200, "finished"]); // it had ended
    expect((await client.get("/jobs/none")).body).toMatchObject({ code: "job.not_found" });
    expect((await client.post("/jobs/none/cancel")).status).toBe(404);
  });

  test("refuse bad requests, and an empty filter", async () => {
    const { client } = await setUp();
    const refused = [
      {},
      { action: "terminate" },
      { action: "terminate", instances: { colour: "red" } },
      { action: "redrive", instances: { all: true } },
      { action: "terminate", instances: { all: true }, hooks: { all: true } },
      { action: "terminate", instances: { createdFrom: "yesterday" } },
    ];
    for (const request of refused) {
      const { status, body } = await client.post("/jobs", request);
      expect([status, body["code"]], JSON.stringify(request)).toEqual([400, "http.invalid_request"]);
    }
    const empty = await client.post("/jobs", { action: "terminate", instances: {} });
    expect([empty.status, empty.body["code"]]).toEqual([400, "job.filter_required"]);
    expect((await client.post("/jobs", { action: "pause", instances: { all: true } })).status).toBe(201);
  });

  test("are started once by a request that is repeated", async () => {
    const { client } = await setUp();
    const options = { headers: { "idempotency-key": "key-1" } };
    const request = { action: "pause", instances: { labels: { tenant: "a" } } };
    const first = await client.post<WireJob>("/jobs", request, options);
    const second = await client.post<WireJob>("/jobs", request, options);
    expect(second.body.id).toBe(first.body.id);
    const { body } = await client.get<{ jobs: WireJob[] }>("/jobs");
    expect(body.jobs).toHaveLength(1);
    const other = await client.post("/jobs", { ...request, action: "resume" }, options);
    expect([other.status, other.body["code"]]).toEqual([409, "http.idempotency_conflict"]);
  });

  test("of a caller that sees only some instances touch only those, and are seen only by such callers", async () => {
    const { app, client } = await setUp();
    const tenant = (name: string) =>
      subject.serve(app, { authorize: () => ({ allow: true, caller: name, labels: { tenant: name } }) });
    const counted = await tenant("a").post("/jobs", { action: "delete", instances: { all: true }, dryRun: true });
    expect(counted.body).toMatchObject({ matching: 2 });
    const { body } = await tenant("a").post<WireJob>("/jobs", { action: "delete", instances: { all: true } });
    expect(await ended(tenant("a"), body)).toMatchObject({ done: 2, actor: "a", matching: 2 });
    const { instances } = await app.workflows.approval.list();
    expect(instances.map(({ id }) => id).sort()).toEqual(["b-1", "b-2"]);

    const none = await tenant("b").post<WireJob>("/jobs", {
      action: "delete",
      instances: { labels: { tenant: "a" } },
      dryRun: true,
    });
    expect(none.body).toMatchObject({ matching: 0 });
    expect((await tenant("b").get(`/jobs/${body.id}`)).status).toBe(404);
    expect((await tenant("b").post(`/jobs/${body.id}/cancel`)).status).toBe(404);
    expect((await tenant("b").get<{ jobs: unknown[] }>("/jobs")).body.jobs).toEqual([]);
    expect((await tenant("a").get<{ jobs: unknown[] }>("/jobs")).body.jobs).toHaveLength(1);
    expect((await client.get<{ jobs: unknown[] }>("/jobs")).body.jobs).toHaveLength(1);
    const others = await client.post<WireJob>("/jobs", { action: "pause", instances: { labels: { tenant: "a" } } });
    expect((await tenant("a").get(`/jobs/${others.body.id}`)).status).toBe(404); // its sender sees more
    expect((await tenant("a").post("/jobs", { action: "redrive", hooks: { all: true } })).status).toBe(403);
  });

  test("are listed to a caller that sees few of many in short pages, whose cursors find them all", async () => {
    const { app } = await setUp();
    const tenant = (name: string) =>
      subject.serve(app, { authorize: () => ({ allow: true, labels: { tenant: name } }) });
    const [a, b] = [tenant("a"), tenant("b")];
    const start = async (client: typeof a) =>
      (await client.post<WireJob>("/jobs", { action: "pause", instances: { idPrefix: "none" } })).body.id;
    const oldest = await start(a);
    for (let many = 0; many < 300; many += 20) await Promise.all(Array.from({ length: 20 }, () => start(b)));
    const newest = await start(a);
    type Page = { readonly jobs: readonly WireJob[]; readonly cursor: string | null };
    const first = (await a.get<Page>("/jobs")).body;
    const second = (await a.get<Page>(`/jobs?cursor=${first.cursor}`)).body;

    expect([first, second].map(({ jobs }) => jobs.map(({ id }) => id))).toEqual([[newest], [oldest]]);
    expect(second.cursor).toBeNull();
  });

  test("ask the policy with the filter, and for hooks also for the permission to operate", async () => {
    const { app } = await setUp();
    const asked: { question: AuthorizationQuestion; details: RequestDetails }[] = [];
    const policy = async (question: AuthorizationQuestion) => {
      asked.push({ question, details: await question.details() });
      return question.operation !== "operate";
    };
    const client = subject.serve(app, { authorize: policy });
    const instances = { workflow: "approval", createdFrom: "2020-01-01T00:00:00.000Z" };
    expect((await client.post("/jobs", { action: "pause", instances, dryRun: true })).status).toBe(200);
    expect(asked[0]).toMatchObject({
      question: { operation: "manage", resource: { kind: "jobs" } },
      details: {
        filter: { workflow: "approval", createdFrom: new Date(instances.createdFrom) },
        job: { action: "pause", instances, dryRun: true },
      },
    });
    expect((await client.post("/jobs", { action: "redrive", hooks: { all: true }, dryRun: true })).status).toBe(403);
    expect(asked.slice(1).map(({ question }) => question.operation)).toEqual(["manage", "operate"]);
    expect(asked[2]?.details.job).toEqual({ action: "redrive", hooks: { all: true }, dryRun: true });
  });

  test("can't be used to guess hidden errors", async () => {
    const { app } = await setUp();
    const client = subject.serve(app, { authorize: () => ({ allow: true, payloads: false }) });
    for (const filter of [
      { instances: { error: "x" }, action: "retry" },
      { hooks: { error: "x" }, action: "redrive" },
    ]) {
      expect((await client.post("/jobs", { ...filter, dryRun: true })).status).toBe(400);
    }
  });

  test("are one change each for the audit, over HTTP and in process, and know who started them", async () => {
    const { app, changes } = await setUp();
    const client = subject.serve(app, { authorize: () => ({ allow: true, caller: "ada" }) });
    const { body } = await client.post<WireJob>("/jobs", { action: "pause", instances: { all: true } });
    await ended(client, body);
    expect((await app.instances.list({ status: "paused" })).instances).toHaveLength(4);
    const explained = await (await app.instances.get("approval", "a-1")).explain();
    expect(explained.reason).toMatchObject({ reason: "paused", by: "ada" });
    const job = await app.actingAs("bob").jobs.start({ action: "resume", instances: { all: true } });
    await job.cancel();
    expect((await job.status()).actor).toBe("bob");
    const told = changes.map(({ actor, action, target, ids, outcome }) => ({ actor, action, target, ids, outcome }));
    expect(told).toEqual([
      { actor: "ada", action: "startJob", target: { kind: "jobs" }, ids: [body.id], outcome: "done" },
      { actor: "bob", action: "startJob", target: { kind: "jobs" }, ids: [job.id], outcome: "done" },
      { actor: "bob", action: "cancelJob", target: { kind: "job", jobId: job.id }, ids: [], outcome: "done" },
    ]);
  });

  test("are the same through the client as in process", async () => {
    const { app, client: http } = await setUp();
    const client = createClient<typeof app>({ baseUrl: "http://localhost", fetch: (request) => http.handler(request) });
    const request = {
      action: "terminate",
      instances: { workflow: "approval", idPrefix: "a-", createdFrom: new Date(0) },
      options: { rollback: false },
    } as const;
    expect(await client.jobs.count(request)).toEqual(await app.jobs.count(request));
    const job = await client.jobs.start(request);
    const state = await waitUntil("it ends", async () => {
      const status = await job.status();
      return status.endedAt === null ? null : status;
    });
    expect(state).toEqual(await (await app.jobs.get(job.id)).status());
    expect(state).toMatchObject({ done: 2, filter: { workflow: "approval", createdFrom: 0 } });
    expect(await client.jobs.list()).toEqual(await app.jobs.list());
    expect(await job.cancel()).toEqual(state);
    const second = await client.jobs.start({ action: "pause", instances: { all: true } });
    await waitUntil("it ends", async () => (await second.status()).endedAt !== null);
    const page = await client.jobs.list({ limit: 1 });
    expect(page).toEqual(await app.jobs.list({ limit: 1 }));
    expect((await client.jobs.list({ cursor: page.cursor as string })).jobs).toEqual([state]);
    await expect(client.jobs.get("none")).rejects.toMatchObject({ code: "job.not_found" });
    await expect(client.jobs.start({ action: "pause", instances: {} })).rejects.toMatchObject({
      code: "job.filter_required",
    });
  });
});
