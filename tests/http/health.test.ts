import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { StoreError } from "../../src/errors.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const OK = { ok: true, problem: null };

function clientOf({ handler }: Client) {
  return createClient({ baseUrl: "http://localhost", fetch: (request) => handler(request as Request) });
}

describe.each(ENGINES)("health on $name", (engine) => {
  const subject = useHttp(engine);
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("is the same in process, over HTTP and in the client", async () => {
    const app = await subject.start({ hooks });
    const http = subject.serve(app);
    await waitUntil("a round is over", async () => (await app.health()).checks.dispatcher?.lastRoundAt);

    const dispatcher = { ...OK, lastRoundAt: expect.any(Date) };
    const ready = { ready: true, checks: { database: OK, schema: OK, dispatcher } };
    expect(await app.health()).toEqual(ready);
    expect(await clientOf(http).health()).toEqual(ready);
    const overHttp = { ...ready, checks: { ...ready.checks, dispatcher: { ...OK, lastRoundAt: expect.any(String) } } };
    expect(await http.get("/health/ready")).toMatchObject({ status: 200, body: overHttp });
    expect(await http.get("/health/live")).toMatchObject({ status: 200, body: { live: true } });
  });

  test("of a process without a worker has no dispatcher", async () => {
    const app = await subject.start({ hooks, worker: false });

    expect(await app.health()).toEqual({ ready: true, checks: { database: OK, schema: OK, dispatcher: null } });
    expect(await clientOf(subject.serve(app)).health()).toEqual(await app.health());
  });

  test("fails while the database can't be used, and names no host; the process still lives", async () => {
    const app = await subject.start({ hooks, worker: false });
    const http = subject.serve(app);
    const down = new StoreError("store.unavailable", "connect ECONNREFUSED secret-host:5432", { transient: true });
    vi.spyOn(app.parts.store.engine, "appliedMigrations").mockRejectedValue(down);

    const { status, body } = await http.get("/health/ready");
    expect(status).toBe(503);
    expect(body).toMatchObject({ ready: false, checks: { database: { ok: false }, schema: { ok: false } } });
    expect(JSON.stringify(body)).not.toContain("secret-host");
    expect(await clientOf(http).health()).toEqual(body);
    expect(await http.get("/health/live")).toMatchObject({ status: 200 });
  });

  test("fails while migrations are missing, or a newer version has applied a breaking one", async () => {
    const app = await subject.start({ hooks, worker: false });
    const { engine: store } = app.parts.store;
    const applied = await store.appliedMigrations();
    const migrations = vi.spyOn(store, "appliedMigrations");

    migrations.mockResolvedValue([]);
    const failed = { ready: false, checks: { database: OK, schema: { ok: false } } };
    expect(await app.health()).toMatchObject(failed);
    const [first] = applied;
    if (first === undefined) throw new Error("The database has no migrations.");
    migrations.mockResolvedValue([...applied, { ...first, number: 9999, breaking: true }]);
    expect(await app.health()).toMatchObject(failed);
    migrations.mockResolvedValue([...applied, { ...first, number: 9999, breaking: false }]);
    expect(await app.health()).toMatchObject({ ready: true });
  });

  test("needs the permission to read, unless the handler says otherwise", async () => {
    const app = await subject.start({ hooks, worker: false });
    const denied = subject.serve(app, { authorize: () => "unauthenticated" });
    const open = subject.serve(app, { authorize: () => "unauthenticated", publicHealth: true });

    for (const path of ["/health/live", "/health/ready"]) {
      expect(await denied.get(path)).toMatchObject({ status: 401 });
      expect(await open.get(path)).toMatchObject({ status: 200 });
    }
    expect(await open.get("/workers")).toMatchObject({ status: 401 });
    expect(() => subject.serve(app, { publicHealth: "yes" as never })).toThrow("publicHealth must be true or false");
  });

  test("of a server that a proxy can't reach is an error of the client", async () => {
    const proxy = async () => Response.json({ error: "no upstream" }, { status: 503 });
    const client = createClient({ baseUrl: "http://localhost", fetch: proxy, retries: 0 });

    await expect(client.health()).rejects.toMatchObject({ code: "client.unreachable" });
  });
});
