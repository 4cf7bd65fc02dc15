import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks, repair, unsure, workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

describe.each(ENGINES)("instances over HTTP on $name", (engine) => {
  const subject = useHttp(engine);

  async function setUp() {
    const app = await subject.start({ workflows, hooks });
    return { app, client: subject.serve(app) };
  }

  test("are created, run, and seen", async () => {
    const { client } = await setUp();
    const created = await client.post("/workflows/echo/instances", { id: "one", params: { total: 12 } });
    expect([created.status, created.body]).toEqual([201, { id: "one", workflowName: "echo" }]);

    const state = await client.becomes("/workflows/echo/instances/one", "complete");

    expect(state).toMatchObject({ id: "one", workflowName: "echo", output: { total: 12 }, run: 1 });
    expect(state["createdAt"]).toMatch(/^\d{4}-\d{2}-\d{2}T.*Z$/);
    expect(state["finishedAt"]).toMatch(/^\d{4}-/);
  });

  test("get an id if none is given, and need no body where they need no params", async () => {
    const { client } = await setUp();

    const { status, body } = await client.post<{ id: string }>("/workflows/sleeper/instances");

    expect(status).toBe(201);
    await client.becomes(`/workflows/sleeper/instances/${body.id}`, "waiting");
  });

  test("are listed by status, in pages", async () => {
    const { client } = await setUp();
    for (const id of ["a", "b", "c"]) await client.post("/workflows/sleeper/instances", { id });
    for (const id of ["a", "b", "c"]) await client.becomes(`/workflows/sleeper/instances/${id}`, "waiting");
    await client.post("/workflows/sleeper/instances/b/terminate");

    const ids = (body: unknown) => (body as { instances: { id: string }[] }).instances.map(({ id }) => id);
    const path = "/workflows/sleeper/instances";
    const first = await client.get<{ cursor: string }>(`${path}?limit=2&order=oldest`);
    const second = await client.get<{ cursor: string }>(`${path}?limit=2&order=oldest&cursor=${first.body.cursor}`);

    expect([ids(first.body), ids(second.body), second.body.cursor]).toEqual([["a", "b"], ["c"], null]);
    expect(ids((await client.get(`${path}?status=terminated`)).body)).toEqual(["b"]);
    expect(ids((await client.get(`${path}?createdBefore=2020-01-01T00:00:00Z`)).body)).toEqual([]);
    expect(ids((await client.get(`${path}?createdFrom=2020-01-01T00:00:00Z`)).body)).toEqual(["c", "b", "a"]);
  });

  test("are created in batches, each for itself, and deleted in batches", async () => {
    const { client } = await setUp();
    await client.post("/workflows/sleeper/instances", { id: "b" });

    const { status, body } = await client.post<{ created: unknown[]; errors: unknown[] }>(
      "/workflows/sleeper/instances/batch",
      { instances: [{ id: "a" }, { id: "b" }, { id: "c", params: null }, { id: "not an id" }] },
    );

    expect(status).toBe(201);
    expect(body.created).toEqual(["a", "c"].map((id) => ({ id, workflowName: "sleeper" })));
    expect(body.errors).toMatchObject([
      { index: 1, id: "b", code: "instance.already_exists" },
      { index: 3, id: "not an id", code: "id.invalid" },
    ]);
    const deleted = await client.post("/workflows/sleeper/instances/batch/delete", { ids: ["a", "none", "b"] });
    expect([deleted.status, deleted.body["deleted"]]).toEqual([200, [{ id: "a" }, { id: "b" }]]);
    expect(deleted.body["errors"]).toMatchObject([{ index: 1, id: "none", code: "instance.not_found" }]);
    expect((await client.get<{ instances: unknown[] }>("/workflows/sleeper/instances")).body.instances).toHaveLength(1);
  });

  test("are found by labels, several states and times, in one workflow or in all", async () => {
    const { client } = await setUp();
    const traits = { priority: 5, retention: { successRetention: "30 days", errorRetention: 60_000 } };
    await client.post("/workflows/echo/instances", { id: "a", labels: { tenant: "acme", kind: "x=y" }, ...traits });
    await client.post("/workflows/sleeper/instances", { id: "b", labels: { tenant: "acme" } });
    await client.post("/workflows/echo/instances", { id: "c" });
    for (const id of ["a", "c"]) await client.becomes(`/workflows/echo/instances/${id}`, "complete");
    await client.becomes("/workflows/sleeper/instances/b", "waiting");
    const find = async (path: string) => {
      const { body } = await client.get<{ instances: { id: string; labels: unknown }[] }>(path);
      return body.instances.map(({ id }) => id);
    };

    expect(await find("/workflows/echo/instances?label=tenant%3Dacme")).toEqual(["a"]);
    expect(await find("/instances?label=tenant%3Dacme&order=oldest")).toEqual(["a", "b"]);
    expect(await find("/instances?label=tenant%3Dacme&label=kind%3Dx%3Dy")).toEqual(["a"]);
    expect(await find("/instances?status=complete&status=waiting&order=oldest")).toEqual(["a", "b", "c"]);
    expect(await find("/instances?status=complete&finishedFrom=2020-01-01T00:00:00Z&order=oldest")).toEqual(["a", "c"]);
    expect(await find("/instances?finishedBefore=2020-01-01T00:00:00Z")).toEqual([]);
    expect((await client.get("/workflows/echo/instances/a")).body["labels"]).toEqual({ tenant: "acme", kind: "x=y" });
    expect((await client.get("/instances?label=tenant")).status).toBe(400);
    const wrong = await client.post("/workflows/echo/instances", { id: "d", retention: { successRetention: "soon" } });
    expect([wrong.status, wrong.body["code"]]).toEqual([400, "duration.invalid"]);
  });

  test("are created or restarted by callers that may both create and manage", async () => {
    const { app, client } = await setUp();
    const path = "/workflows/echo/instances/one";
    const ensure = async (body?: unknown) => (await client.post(`${path}/restart-or-create`, body)).body["outcome"];

    expect(await ensure({ params: 1 })).toBe("created");
    await client.becomes(path, "complete");
    expect(await ensure({ when: ["errored"] })).toBe("unchanged");
    expect(await ensure({ params: 2, when: "finished" })).toBe("restarted");
    expect(await client.becomes(path, "complete")).toMatchObject({ run: 2, output: 2 });
    expect((await client.post(`${path}/restart-or-create`, { when: "never" })).status).toBe(400);
    for (const authorize of [{ create: () => true }, { manage: () => true }]) {
      expect((await subject.serve(app, { authorize }).post(`${path}/restart-or-create`)).status).toBe(403);
    }
  });

  test("are created with an event, or sent it, by callers that may both create and send", async () => {
    const { app, client } = await setUp();
    const path = "/workflows/echo/instances/one";
    const send = (body: unknown) => client.post(`${path}/create-or-send`, body);

    expect((await send({ params: 1, event: { type: "a" } })).body).toEqual({
      id: "one",
      workflowName: "echo",
      outcome: "created",
    });
    expect(await client.becomes(path, "complete")).toMatchObject({ output: 1 });
    const late = await send({ event: { type: "a" } });
    expect([late.status, late.body["code"]]).toEqual([409, "instance.finished"]);
    expect((await send({ params: 1 })).status).toBe(400);
    for (const authorize of [{ create: () => true }, { events: () => true }]) {
      const reply = await subject.serve(app, { authorize }).post(`${path}/create-or-send`, { event: { type: "a" } });
      expect(reply.status).toBe(403);
    }
  });

  test("are paused, resumed, restarted, terminated and deleted", async () => {
    const { client } = await setUp();
    const path = "/workflows/sleeper/instances/one";
    await client.post("/workflows/sleeper/instances", { id: "one" });
    await client.becomes(path, "waiting");

    expect((await client.post(`${path}/pause`)).status).toBe(204);
    await client.becomes(path, "paused");
    expect((await client.post(`${path}/resume`)).status).toBe(204);
    await client.becomes(path, "waiting");
    expect((await client.post(`${path}/restart`)).status).toBe(204);
    expect((await client.becomes(path, "waiting"))["run"]).toBe(2);
    expect((await client.post(`${path}/terminate`)).status).toBe(204);
    const again = await client.post(`${path}/terminate`);
    expect([again.status, again.body["code"]]).toEqual([409, "instance.finished"]);
    expect((await client.delete(path)).status).toBe(204);
    const gone = await client.get(path);
    expect([gone.status, gone.body["code"]]).toEqual([404, "instance.not_found"]);
  });

  test("get events, and have a history in pages", async () => {
    const { client } = await setUp();
    const path = "/workflows/approval/instances/one";
    await client.post("/workflows/approval/instances", { id: "one" });

    const sent = await client.post(`${path}/events`, { type: "approved", payload: { by: "Ada" } });
    expect([sent.status, sent.body]).toEqual([204, undefined]);
    expect((await client.becomes(path, "complete"))["output"]).toEqual({ by: "Ada" });

    type Page = { run: number; entries: { name: string; output?: unknown; event?: unknown }[]; cursor: string | null };
    const whole = await client.get<Page>(`${path}/history`);
    expect(whole.body.entries.find(({ name }) => name === "ask")?.output).toBe("asked");
    expect(whole.body.entries.map(({ event }) => event)).toContainEqual({ type: "approved", payload: { by: "Ada" } });
    const first = await client.get<Page>(`${path}/history?limit=1`);
    const second = await client.get<Page>(`${path}/history?cursor=${first.body.cursor}`);
    expect([...first.body.entries, ...second.body.entries]).toEqual(whole.body.entries);

    const late = await client.post(`${path}/events`, { type: "approved" });
    expect([late.status, late.body["code"]]).toEqual([409, "instance.finished"]);
  });

  test("are restarted from a step, and terminated with their steps rolled back", async () => {
    const { client } = await setUp();
    const path = "/workflows/fragile/instances/one";
    repair.broken = false;
    repair.log.length = 0;
    await client.post("/workflows/fragile/instances", { id: "one" });
    await client.becomes(path, "waiting");

    const unknown = await client.post(`${path}/restart`, { from: { name: "third" } });
    expect([unknown.status, unknown.body["code"]]).toEqual([404, "step.not_found"]);
    expect((await client.post(`${path}/restart`, { from: { name: "second" } })).status).toBe(204);
    await waitUntil("the second step has run again", () => repair.log.length === 3);
    expect((await client.becomes(path, "waiting"))["run"]).toBe(2);
    expect(repair.log).toEqual(["first", "second", "second"]);
    expect((await client.post(`${path}/terminate`, { rollback: true })).status).toBe(204);

    expect(await client.becomes(path, "terminated")).toMatchObject({ rollback: { outcome: "complete" } });
    expect(repair.log.at(-1)).toBe("first taken back");
  });

  test("that failed at a step are tried again there", async () => {
    const { client } = await setUp();
    const path = "/workflows/failing/instances/one";
    await client.post("/workflows/failing/instances", { id: "one" });
    await client.becomes(path, "errored");
    const none = await client.post(`${path}/retry`);
    expect([none.status, none.body["code"]]).toEqual([409, "instance.no_failed_step"]);
    await client.post("/workflows/unsure/instances", { id: "one" });
    await client.becomes("/workflows/unsure/instances/one", "errored");

    unsure.broken = false;
    expect((await client.post("/workflows/unsure/instances/one/retry")).status).toBe(204);

    const state = await client.becomes("/workflows/unsure/instances/one", "complete");
    expect([state["run"], state["output"]]).toEqual([2, "sure"]);
    unsure.broken = true;
  });

  test("that fail say why, without a stack", async () => {
    const { client } = await setUp();
    await client.post("/workflows/failing/instances", { id: "one", params: "that" });

    const { error } = await client.becomes("/workflows/failing/instances/one", "errored");

    expect(error).toEqual({ name: "TypeError", message: 'can\'t do "that"' });
  });

  test("of unknown workflows and ids are not found", async () => {
    const { client } = await setUp();
    const asked = [
      await client.get("/workflows/other/instances"),
      await client.post("/workflows/other/instances", {}),
      await client.get("/workflows/__proto__/instances/one"),
      await client.get("/workflows/echo/instances/none"),
      await client.get("/workflows/echo/instances/none/history"),
      await client.post("/workflows/echo/instances/none/pause"),
      await client.post("/workflows/echo/instances/none/events", { type: "x" }),
    ];

    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 404));
    const codes = asked.map(({ body }) => body["code"]);
    expect(codes).toEqual([...Array(2).fill("workflow.not_found"), ...Array(5).fill("instance.not_found")]);
  });

  test("that exist are not created again, unless they may be returned", async () => {
    const { client } = await setUp();
    await client.post("/workflows/sleeper/instances", { id: "one" });

    const refused = await client.post("/workflows/sleeper/instances", { id: "one" });
    const returned = await client.post("/workflows/sleeper/instances", { id: "one", onConflict: "return" });

    expect([refused.status, refused.body["code"]]).toEqual([409, "instance.already_exists"]);
    expect([returned.status, returned.body]).toEqual([201, { id: "one", workflowName: "sleeper" }]);
  });
});
