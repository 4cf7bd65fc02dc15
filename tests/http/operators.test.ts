import { describe, expect, test } from "vitest";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { defineSubjects } from "../../src/subjects/define-subjects.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

interface HookBody {
  readonly id: string;
  readonly status: string;
  readonly payload: unknown;
  readonly error: unknown;
}

interface HookPage {
  readonly hooks: HookBody[];
  readonly cursor: string | null;
}

describe.each(ENGINES)("hooks over HTTP on $name", (engine) => {
  const subject = useHttp(engine);

  async function setUp() {
    const app = await subject.start({ workflows, hooks });
    return { app, client: subject.serve(app) };
  }

  function deadLetters(client: Client, count: number): Promise<HookBody[]> {
    return waitUntil("there are dead letters", async () => {
      const { body } = await client.get<HookPage>("/hooks?status=failed");
      return body.hooks.length === count ? body.hooks : null;
    });
  }

  test("are listed in pages, and found by id", async () => {
    const { app, client } = await setUp();
    const processAt = new Date(Date.now() + 3_600_000);
    for (const text of ["a", "b", "c"]) await app.hooks.later.trigger({ text }, { processAt });

    const first = await client.get<HookPage>("/hooks?limit=2&order=oldest&status=pending&name=later");
    const second = await client.get<HookPage>(`/hooks?limit=2&order=oldest&cursor=${first.body.cursor}`);
    const listed = [...first.body.hooks, ...second.body.hooks];

    expect(listed.map(({ payload }) => payload)).toEqual(["a", "b", "c"].map((text) => ({ text })));
    expect(second.body.cursor).toBeNull();
    const one = await client.get<HookBody>(`/hooks/${listed[0]?.id}`);
    expect(one.body).toEqual(listed[0]);
    const none = await client.get("/hooks/none");
    expect([none.status, none.body["code"]]).toEqual([404, "hook.not_found"]);
  });

  test("that failed are redriven and discarded", async () => {
    const { app, client } = await setUp();
    await app.hooks.breaks.trigger({ text: "a" });
    await app.hooks.breaks.trigger({ text: "b" });
    const dead = await deadLetters(client, 2);
    expect(dead[0]?.error).toEqual({ name: "RangeError", message: "broken by b" });
    const ids = dead.map(({ id }) => id);

    const redriven = await client.post("/hooks/redrive", { ids: [ids[0], "none"] });
    expect([redriven.status, redriven.body]).toEqual([200, { ids: [ids[0]] }]);
    await deadLetters(client, 2);
    const discarded = await client.post<{ ids: string[] }>("/hooks/discard", { ids });
    expect(discarded.body.ids.toSorted()).toEqual(ids.toSorted());
    expect((await client.get<HookPage>("/hooks")).body.hooks).toEqual([]);
  });

  test("that threw a value other than an error report it in the same form", async () => {
    const odd = defineHook({ retries: { limit: 0 } }, () => Promise.reject("just a text"));
    const client = subject.serve(
      await subject.start({ hooks: { odd } }).then(async (app) => {
        await app.hooks.odd.trigger(undefined);
        return app;
      }),
    );

    const [dead] = await deadLetters(client, 1);

    expect(dead?.error).toEqual({ name: "Error", message: "just a text" });
  });

  test("are called off by id, or by name and key", async () => {
    const { app, client } = await setUp();
    const processAt = new Date(Date.now() + 3_600_000);
    const { id } = await app.hooks.later.trigger({ text: "a" }, { processAt });
    await app.hooks.later.trigger({ text: "b" }, { processAt, key: "k" });

    const byId = await client.post("/hooks/cancel", { id });
    const byKey = await client.post<{ cancelled: string[] }>("/hooks/cancel", { name: "later", key: "k" });
    const neither = await client.post("/hooks/cancel", { name: "later" });

    expect(byId.body).toEqual({ cancelled: [id], running: [] });
    expect(byKey.body.cancelled).toHaveLength(1);
    expect([neither.status, neither.body["code"]]).toEqual([400, "http.invalid_request"]);
    expect((await client.get<HookPage>("/hooks")).body.hooks).toEqual([]);
  });

  test("are counted", async () => {
    const { app, client } = await setUp();
    await app.hooks.later.trigger({ text: "a" }, { processAt: new Date(Date.now() + 3_600_000) });

    await app.workflows.sleeper.create({ id: "a" });

    type Statistics = { hooks: unknown; instances: Record<"total" | "workflows", { waiting?: number }> };
    const body = await waitUntil("it is stored that it waits", async () => {
      const { body } = await client.get<Statistics>("/stats");
      return body.instances.total.waiting === 1 ? body : null;
    });

    const counts = { pending: 1, due: 0, processing: 0, failed: 0, completed: 0, oldestDueMs: null };
    expect(body.hooks).toEqual(counts);
    expect(body.instances.total).toMatchObject({ total: 1, waiting: 1, complete: 0 });
    expect(body.instances.workflows).toMatchObject({ sleeper: { waiting: 1 }, echo: { total: 0 } });
  });
});

describe.each(ENGINES)("schedules over HTTP on $name", (engine) => {
  const subject = useHttp(engine);

  test("are listed, paused, resumed and run now", async () => {
    const client = subject.serve(await subject.start({ workflows }));
    const list = async () => (await client.get<{ schedules: Record<string, unknown>[] }>("/schedules")).body.schedules;
    const [stored] = await waitUntil("it is stored", async () => {
      const schedules = await list();
      return schedules.length > 0 ? schedules : null;
    });
    const night = { workflowName: "nightly", name: "night", cron: "0 2 * * *", paused: false, inCode: true };
    expect(stored).toMatchObject({ ...night, lastAt: null, nextAt: expect.stringMatching(/T02:00:00/) });

    expect((await client.post("/schedules/nightly/night/pause")).status).toBe(204);
    expect(await list()).toMatchObject([{ paused: true, nextAt: null }]);
    expect((await client.post("/schedules/nightly/night/resume")).status).toBe(204);
    expect(await list()).toMatchObject([{ paused: false, nextAt: stored?.["nextAt"] }]);
    const run = await client.post<{ id: string }>("/schedules/nightly/night/run");
    expect(run.status).toBe(201);
    await client.becomes(`/workflows/nightly/instances/${run.body.id}`, "complete");
    for (const path of ["nightly/none", "echo/night", "none/night"]) {
      expect((await client.post(`/schedules/${path}/run`)).status).toBe(404);
    }
  });
});

describe.each(ENGINES)("subjects over HTTP on $name", (engine) => {
  const subject = useHttp(engine);
  const PATH = "/subjects/inventory/shop%3A1%2Fnorth";

  async function setUp() {
    const inventory = defineSubjects({ every: "1 hour", handle: async () => {} });
    const app = await subject.start({ subjects: { inventory }, worker: false });
    const dispatcher = app.subjects.dispatcher("inventory");
    const nextDueAt = new Date(Date.now() + 3_600_000);
    await dispatcher.syncSubjects({
      subjects: [
        { subjectKey: "shop:1/north", cursor: { page: 1 }, nextDueAt },
        { subjectKey: "shop:2", group: "b", nextDueAt },
      ],
    });
    return { dispatcher, client: subject.serve(app) };
  }

  test("are listed by dispatcher, and found by key", async () => {
    const { client } = await setUp();

    const dispatchers = await client.get("/subjects");
    const listed = await client.get<{ subjects: { subjectKey: string }[] }>("/subjects/inventory?limit=1");
    const grouped = await client.get<{ subjects: { subjectKey: string }[] }>("/subjects/inventory?group=b");
    const one = await client.get(PATH);
    const none = await client.get("/subjects/inventory/none");

    expect(dispatchers.body).toEqual({ dispatchers: ["inventory"] });
    expect(listed.body.subjects.map(({ subjectKey }) => subjectKey)).toEqual(["shop:1/north"]);
    expect(grouped.body.subjects.map(({ subjectKey }) => subjectKey)).toEqual(["shop:2"]);
    expect(one.body).toMatchObject({ subjectKey: "shop:1/north", cursor: { page: 1 }, status: "idle", revision: 1 });
    expect([none.status, none.body["code"]]).toEqual([404, "subject.not_found"]);
  });

  test("are made due, unless they have an owner", async () => {
    const { dispatcher, client } = await setUp();
    expect(await dispatcher.claimDueSubjects({ limit: 10, leaseMs: 60_000 })).toEqual([]);

    expect((await client.post(`${PATH}/due`)).status).toBe(204);

    const claimed = await dispatcher.claimDueSubjects({ limit: 10, leaseMs: 60_000 });
    expect(claimed.map(({ subjectKey, cursor }) => [subjectKey, cursor])).toEqual([["shop:1/north", { page: 1 }]]);
    const held = await client.post(`${PATH}/due`);
    expect([held.status, held.body["code"]]).toEqual([409, "subject.leased"]);
    const missing = await client.post("/subjects/inventory/none/due");
    expect([missing.status, missing.body["code"]]).toEqual([404, "subject.not_found"]);
    expect((await client.get<{ subjects: unknown[] }>("/subjects/inventory")).body.subjects).toHaveLength(2);
  });

  test("are not brought back when they are retired", async () => {
    const { dispatcher, client } = await setUp();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "shop:2" }], retire: true });

    const { status, body } = await client.post(`${PATH}/due`);

    expect([status, body["code"]]).toEqual([409, "subject.retired"]);
    expect((await client.get(PATH)).body["status"]).toBe("retired");
  });

  test("are taken from their owner, at the revision that the operator has seen", async () => {
    const { dispatcher, client } = await setUp();
    await client.post(`${PATH}/due`);
    const [claimed] = await dispatcher.claimDueSubjects({ limit: 1, leaseMs: 60_000 });
    const revision = claimed?.revision ?? 0;

    const stale = await client.post(`${PATH}/release`, { revision: revision - 1 });
    const released = await client.post(`${PATH}/release`, { revision });
    const again = await client.post(`${PATH}/release`, { revision: revision + 1 });

    expect([stale.status, stale.body["code"], stale.body["details"]]).toEqual([
      409,
      "subject.revision_conflict",
      { revision },
    ]);
    expect([released.status, released.body["status"], released.body["leaseOwner"]]).toEqual([200, "idle", null]);
    expect([again.status, again.body["code"]]).toEqual([409, "subject.not_leased"]);
    await expect(dispatcher.completeSubject({ subjectKey: "shop:1/north", revision })).rejects.toMatchObject({
      code: "subject.revision_conflict",
    });
  });
});
