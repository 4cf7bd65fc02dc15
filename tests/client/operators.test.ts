import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createRoutes } from "../../src/http/routes/index.ts";
import { Router } from "../../src/http/routes/router.ts";
import { hooks, workflows } from "../http/support/sample-app.ts";
import { type HttpUnderTest, useHttp } from "../http/support/use-http.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const BASE = "http://localhost";

/** Routes that no call of the client needs. */
const OTHERS = ["readLiveness", "readDocument", "readSchemas", "tick"];

async function connect(subject: HttpUnderTest, options: { readonly worker?: boolean } = {}) {
  const app = await subject.start({ workflows, hooks, tokens: { secret: "x".repeat(32) }, ...options });
  const http = subject.serve(app);
  const requests: Request[] = [];
  const fetch = (request: Request) => {
    requests.push(request);
    return http.handler(request);
  };
  return { app, client: createClient<typeof app>({ baseUrl: BASE, fetch }), fetch, requests };
}

describe.each(ENGINES)("a client of operators on $name", (engine) => {
  const subject = useHttp(engine);

  test("lists, explains, redrives, discards, cancels and counts hooks as in process", async () => {
    const { app, client } = await connect(subject);
    const { durableHooks } = client;
    const { id } = await app.hooks.breaks.trigger({ text: "glass" });
    const dead = await waitUntil("it is dead", async () => (await durableHooks.deadLetters()).hooks[0]);
    const { error, ...own } = (await app.durableHooks.get(id)) ?? {};
    expect(dead).toEqual({ ...own, error: { name: "RangeError", message: "broken by glass" } });
    expect(error).toBeInstanceOf(RangeError);
    expect(await durableHooks.get(id)).toEqual(dead);
    expect(await durableHooks.get("none")).toBeNull();
    expect(await durableHooks.statistics()).toEqual(await app.durableHooks.statistics());
    expect((await durableHooks.explain(id)).reason).toMatchObject({ reason: "finished", status: "failed" });
    expect(await durableHooks.redrive(id)).toEqual([id]);
    expect(await durableHooks.redrive([])).toEqual([]);
    await waitUntil("it is dead again", async () => (await durableHooks.get(id))?.status === "failed");
    expect(await durableHooks.discard([id, "none"])).toEqual([id]);

    const processAt = new Date(Date.now() + 3_600_000);
    const one = await app.hooks.later.trigger({ text: "one" }, { processAt, key: "k" });
    const two = await app.hooks.later.trigger({ text: "two" }, { processAt });
    const page = await durableHooks.list({ status: "pending", name: "later", order: "oldest", limit: 1 });
    expect(page.hooks).toEqual([await app.durableHooks.get(one.id)]);
    const next = await durableHooks.list({ status: "pending", order: "oldest", cursor: page.nextCursor as string });
    expect(next.hooks.map((hook) => hook.id)).toEqual([two.id]);
    expect(await durableHooks.cancel({ name: "later", key: "k" })).toEqual({ cancelled: [one.id], running: [] });
    expect(await durableHooks.cancel(two.id)).toEqual({ cancelled: [two.id], running: [] });
    await expect(durableHooks.list({ state: "failed" } as never)).rejects.toMatchObject({ code: "options.invalid" });
  });

  test("lists subjects, releases them and makes them due", async () => {
    const { app, client } = await connect(subject);
    const own = app.subjects.dispatcher<Date>("stock");
    await own.syncSubjects({ subjects: [{ subjectKey: "a/b", cursor: new Date(5), nextDueAt: new Date(0) }] });
    const stock = client.subjects.dispatcher("stock");
    expect(await client.subjects.dispatcherIds()).toEqual([]);
    expect(await stock.getSubject("a/b")).toEqual(await own.getSubject("a/b"));
    expect(await stock.getSubject("none")).toBeNull();
    const [claimed] = await own.claimDueSubjects({ limit: 1, leaseMs: 60_000 });
    expect((await stock.listSubjects({ status: "leased", limit: 5 })).subjects).toEqual([claimed]);
    await expect(stock.makeSubjectDue("a/b")).rejects.toMatchObject({ code: "subject.leased" });
    const { revision } = claimed as { revision: number };
    await expect(stock.releaseSubject({ subjectKey: "a/b", revision: 99 })).rejects.toMatchObject({
      name: "ConflictError",
    });
    expect(await stock.releaseSubject({ subjectKey: "a/b", revision })).toMatchObject({
      status: "idle",
      cursor: new Date(5),
    });
    await own.syncSubjects({ subjects: [{ subjectKey: "a/b", nextDueAt: new Date(Date.now() + 3_600_000) }] });
    await stock.makeSubjectDue("a/b");
    expect((await own.claimDueSubjects({ limit: 1, leaseMs: 60_000 })).map(({ subjectKey }) => subjectKey)).toEqual([
      "a/b",
    ]);
    for (const key of ["", ".", ".."]) {
      await expect(stock.getSubject(key)).rejects.toMatchObject({ code: "subject.invalid" });
    }
  });

  test("lists, pauses, resumes and runs schedules, and a repeated run creates one instance", async () => {
    const { app, client, fetch } = await connect(subject);
    await waitUntil("it is stored", async () => (await client.schedules.list()).length === 1);
    expect(await client.schedules.list()).toEqual(await app.schedules.list());
    await client.schedules.pause({ workflow: "nightly" });
    expect(await app.schedules.list()).toMatchObject([{ name: "night", paused: true }]);
    await client.schedules.resume({ workflow: "nightly", name: "night" });
    expect(await app.schedules.list()).toMatchObject([{ name: "night", paused: false }]);
    let lost = 0;
    const unlucky = createClient({
      baseUrl: BASE,
      fetch: async (request) => {
        const response = await fetch(request);
        if (request.method === "POST" && lost++ === 0) throw new TypeError("The answer was lost.");
        return response;
      },
    });
    const instance = await unlucky.schedules.runNow({ workflow: "nightly" });
    expect([lost, await instance.result()]).toEqual([2, "done"]);
    expect((await app.workflows.nightly.list()).instances).toHaveLength(1);
    await expect(client.schedules.pause({ workflow: "echo" })).rejects.toMatchObject({ code: "schedule.not_found" });
    await expect(client.schedules.runNow({ workflow: "echo" })).rejects.toMatchObject({ code: "schedule.not_found" });
    await expect(client.schedules.pause({ workflow: "none", name: "night" })).rejects.toMatchObject({
      code: "workflow.not_found",
    });
  });

  test("gets an instance by the name or the key of its workflow", async () => {
    const { app, client } = await connect(subject);
    await app.workflows.uncertain.create({ id: "one" });
    for (const workflow of ["uncertain", "unsure"]) {
      const instance = await client.instances.get(workflow, "one");
      expect([instance.id, instance.workflowName]).toEqual(["one", "unsure"]);
    }
    await expect(client.instances.get("uncertain", "two")).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("has a call for every route", async () => {
    const { app, client, requests } = await connect(subject);
    const { workflows: all, durableHooks, schedules } = client;
    const given = { id: "a" };
    const stock = client.subjects.dispatcher("stock");
    await app.subjects.dispatcher("stock").syncSubjects({ subjects: [{ subjectKey: "s" }] });
    const instance = await all.sleeper.create(given);
    const calls: (() => Promise<unknown>)[] = [
      () => all.sleeper.createBatch([{ id: "b" }]),
      () => all.sleeper.restartOrCreate(given),
      () => all.sleeper.createOrSend({ ...given, event: { type: "hello" } }),
      () => all.sleeper.sendEventToAll({ labels: { a: "b" }, type: "hello" }),
      () => all.sleeper.get("a"),
      () => all.sleeper.list(),
      () => all.sleeper.versions(),
      () => client.instances.list(),
      () => client.instances.counts(),
      () => instance.sendEvent({ type: "hello" }),
      () => instance.pause(),
      () => instance.resume(),
      () => instance.explain(),
      () => instance.history(),
      () => instance.subscribe().then((subscription) => subscription.return()),
      () => instance.terminate(),
      () => instance.restart(),
      () => instance.retryFailedStep(),
      () => instance.delete(),
      () => all.sleeper.deleteBatch(["b"]),
      () => client.completeToken("none"),
      () => durableHooks.list(),
      () => durableHooks.get("none"),
      () => durableHooks.explain("none"),
      () => durableHooks.redrive("none"),
      () => durableHooks.discard("none"),
      () => durableHooks.cancel("none"),
      () => client.jobs.list(),
      () => client.jobs.get("none"),
      async () => (await client.jobs.start({ action: "pause", instances: { idPrefix: "none" } })).cancel(),
      () => client.subjects.dispatcherIds(),
      () => stock.listSubjects(),
      () => stock.getSubject("s"),
      () => stock.releaseSubject({ subjectKey: "s", revision: 1 }),
      () => stock.makeSubjectDue("s"),
      () => schedules.list(),
      () => schedules.pause({ workflow: "nightly", name: "night" }),
      () => schedules.resume({ workflow: "nightly", name: "night" }),
      () => schedules.runNow({ workflow: "nightly", name: "night" }),
      () => client.workers(),
      () => client.unclaimed(),
      () => client.lines(),
      () => client.health(),
      () => client.metrics(),
      () => client.activity(),
    ];
    for (const call of calls) await call().catch(() => {}); // some are refused: here it counts that they are sent
    const routes = createRoutes({ basePath: "", tick: true });
    const router = new Router("", routes);
    const called = new Set(requests.map(({ method, url }) => router.match(method, new URL(url).pathname).route.name));
    const uncalled = routes.map(({ name }) => name).filter((name) => !called.has(name));
    expect(uncalled.sort()).toEqual([...OTHERS].sort());
  });
});

describe("a client with limits", () => {
  const subject = useHttp(ENGINES[0] as (typeof ENGINES)[number]);
  const never = () => new Promise<Response>(() => {});

  /** A server that answers only these requests. */
  async function halting(answered: (request: Request) => boolean) {
    const { app, client, fetch } = await connect(subject);
    const slow = createClient<typeof app>({
      baseUrl: BASE,
      retries: 0,
      fetch: (request) => (answered(request) ? fetch(request) : never()),
    });
    return { app, client, slow };
  }

  test("ends a call after its timeout, even if the network ignores signals", async () => {
    const { slow } = await halting(() => false);
    const limited = slow.with({ timeout: 20 });
    const stock = limited.subjects.dispatcher("stock");
    const calls: (() => Promise<unknown>)[] = [
      () => limited.workflows.echo.create(),
      () => limited.instances.list(),
      () => limited.durableHooks.list(),
      () => limited.schedules.list(),
      () => limited.subjects.dispatcherIds(),
      () => stock.getSubject("s"),
      () => limited.workers(),
      () => limited.health(),
      () => limited.completeToken("token"),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "client.timeout" });
  });

  test("gives its limits to the instances that it returns, for each call again", async () => {
    const { slow } = await halting(({ url }) => !url.endsWith("/explain"));
    const instance = await slow.with({ timeout: "1 minute" }).workflows.approval.create({ id: "one" });
    const limited = slow.with({ timeout: 20 }, instance);
    await expect(limited.explain()).rejects.toMatchObject({ code: "client.timeout" });
    await instance.sendEvent({ type: "approved", payload: 1 });
    expect(await instance.result()).toBe(1);
    expect([limited.id, limited.workflowName]).toEqual(["one", "approval"]);
  });

  test("ends a call and a subscription when its signal aborts", async () => {
    const { client } = await halting(() => true);
    const abort = new AbortController();
    const limited = client.with({ signal: abort.signal }).with({ timeout: "1 minute" });
    const instance = await limited.workflows.approval.create({ id: "one" });
    const subscription = await instance.subscribe({ filter: ["workflow_completed"] });
    const waiting = [subscription.next(), instance.result()];
    const settled = Promise.allSettled(waiting);
    abort.abort(new Error("enough"));
    for (const one of await settled) expect(one).toMatchObject({ status: "rejected", reason: { message: "enough" } });
    await expect(instance.status()).rejects.toThrow("enough");
    expect((await client.with({}, instance).status()).finishedAt).toBeNull();
  });

  test("keeps a subscription open after the timeout of the call that opened it", async () => {
    const { app, slow } = await halting(({ url }) => !url.endsWith("/workers"));
    const instance = await slow.with({ timeout: 2000 }).workflows.approval.create({ id: "one" });
    const subscription = await instance.subscribe({ filter: ["workflow_completed"] });
    await expect(slow.with({ timeout: 2100 }).workers()).rejects.toMatchObject({ code: "client.timeout" });
    await (await app.workflows.approval.get("one")).sendEvent({ type: "approved" });
    expect(await subscription.next()).toMatchObject({ value: { type: "workflow_completed" } });
  });

  test("is refused with other options", async () => {
    const { client } = await halting(() => true);
    for (const wrong of [{ signal: {} }, { timeout: "soon" }, { retries: 1 }, null]) {
      expect(() => client.with(wrong as never)).toThrow(expect.objectContaining({ name: "InvalidInputError" }));
    }
  });
});
