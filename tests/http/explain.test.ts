import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { defineHook, defineWorkflow, type Explanation } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

type Explains = () => Promise<Explanation>;

describe.each(ENGINES)("explain over HTTP on $name", (engine) => {
  const subject = useHttp(engine);

  test("answers as in process, for an instance and a hook, and so does the client", async () => {
    const app = await subject.start({ workflows, hooks });
    const http = subject.serve(app);
    const client = createClient<typeof app>({
      baseUrl: "http://localhost",
      fetch: (request) => http.handler(request as Request),
    });
    const instance = await app.workflows.sleeper.create({ id: "one" });
    const explained = await waitUntil("it sleeps", async () => {
      const answer = await instance.explain();
      return answer.reason.reason === "sleeping" ? answer : null;
    });
    const { status, body } = await http.get("/workflows/sleeper/instances/one/explain");
    expect([status, body]).toEqual([200, JSON.parse(JSON.stringify(explained))]);
    expect(await (await client.workflows.sleeper.get("one")).explain()).toEqual(explained);

    const [name] = Object.keys(hooks) as [keyof typeof hooks];
    const { id } = await app.hooks[name].trigger(undefined as never, { processAt: new Date(Date.now() + 3_600_000) });
    const due = await app.durableHooks.explain(id);
    expect(due.reason.reason).toBe("scheduled");
    expect((await http.get(`/hooks/${id}/explain`)).body).toEqual(JSON.parse(JSON.stringify(due)));
    expect(await client.durableHooks.explain(id)).toEqual(due);
  });

  test("answers for every kind of reason as in process, and so does the client", async () => {
    const gate = new Gate();
    const limited = defineHook({ concurrency: { limit: 1 } }, (_n: number) => gate.opened);
    const rated = defineHook({ rateLimit: { limit: 1, period: "1 hour" } }, async (_n: number) => {});
    const retried = defineHook({ retries: { delay: "1 hour", backoff: "constant" } }, async (_n: number) => {
      throw new RangeError("no");
    });
    const flaky = defineWorkflow({ name: "flaky" }, async (_event, step) => {
      await step.do("charge", { retries: { limit: 4, delay: "1 hour" } }, async () => {
        throw new RangeError("no");
      });
    });
    const app = await subject.start({ workflows: { ...workflows, flaky }, hooks: { limited, rated, retried } });
    const http = subject.serve(app, { stackTraces: true });
    const fetch = (request: unknown) => http.handler(request as Request);
    const client = createClient<typeof app>({ baseUrl: "http://localhost", fetch });
    const seen = new Set<string>();
    const compare = async (path: string, wanted: string, here: Explains, remote: Explains) => {
      const own = await waitUntil(`it is ${wanted}`, async () => {
        const explained = await here();
        return explained.reason.reason === wanted ? explained : null;
      });
      expect((await http.get(path)).body).toEqual(JSON.parse(JSON.stringify(own)));
      expect(await remote()).toEqual(own);
      seen.add(wanted);
      return own;
    };
    const ofInstance = async (name: "approval" | "sleeper" | "failing" | "flaky", wanted: string) => {
      const [here, remote] = [await app.workflows[name].get("one"), await client.workflows[name].get("one")];
      const path = `/workflows/${name}/instances/one/explain`;
      return compare(
        path,
        wanted,
        () => here.explain(),
        () => remote.explain(),
      );
    };
    const ofHook = (id: string, wanted: string) => {
      const explain = (of: typeof client.durableHooks | typeof app.durableHooks) => () => of.explain(id);
      return compare(`/hooks/${id}/explain`, wanted, explain(app.durableHooks), explain(client.durableHooks));
    };
    for (const name of ["approval", "sleeper", "failing", "flaky"] as const)
      await app.workflows[name].create({ id: "one" });
    await ofInstance("approval", "waitingForEvent");
    await ofInstance("sleeper", "sleeping");
    await ofInstance("failing", "finished");
    expect((await ofInstance("flaky", "retrying")).reason).toMatchObject({ attempt: 2, of: 5 });
    await (await app.workflows.sleeper.get("one")).pause({ by: "ada" });
    await ofInstance("sleeper", "paused");
    const trigger = async (name: "limited" | "rated" | "retried") => (await app.hooks[name].trigger(1)).id;
    await ofHook(await trigger("limited"), "running");
    await ofHook(await trigger("limited"), "inLine");
    await trigger("rated");
    await ofHook(await trigger("rated"), "rateLimited");
    expect((await ofHook(await trigger("retried"), "retrying")).reason).toMatchObject({ attempt: 2, of: 20 });
    gate.open();
    expect(seen.size).toBe(8);
  });

  test("says who paused an instance: the caller whom the policy names, or whom the request does", async () => {
    const app = await subject.start({ workflows, hooks });
    const pathOf = (id: string) => `/workflows/sleeper/instances/${id}`;
    const pauserOf = async (id: string, { handler }: ReturnType<typeof subject.serve>, by?: string) => {
      await app.workflows.sleeper.create({ id });
      const fetch = (request: unknown) => handler(request as Request);
      const client = createClient<typeof app>({ baseUrl: "http://localhost", fetch });
      const instance = await client.workflows.sleeper.get(id);
      await instance.pause(by === undefined ? {} : { by });
      return (await instance.explain()).reason;
    };
    const paused = { reason: "paused", pausing: expect.any(Boolean) };
    const anonymous = subject.serve(app);
    expect(await pauserOf("one", anonymous, "ada")).toEqual({ ...paused, by: "ada" });
    expect(await pauserOf("two", anonymous)).toEqual({ ...paused, by: null });
    const named = subject.serve(app, { authorize: () => ({ allow: true, caller: `eve\0${"x".repeat(300)}` }) });
    expect(await pauserOf("three", named, "ada")).toEqual({ ...paused, by: `eve ${"x".repeat(251)}` });
    const { sentence } = await (await app.workflows.sleeper.get("one")).explain();
    expect(sentence).toContain("paused by ada");
    expect((await anonymous.post(`${pathOf("one")}/pause`, { by: 5 })).status).toBe(400);
  });

  test("hides the messages of errors that are redacted", async () => {
    const app = await subject.start({ workflows });
    const http = subject.serve(app, { redact: true });
    const instance = await app.workflows.failing.create({ id: "one", params: "secret" });
    await instance.result().catch(() => {});
    const { status, body } = await http.get("/workflows/failing/instances/one/explain");
    expect([status, body]).toMatchObject([200, { reason: { reason: "finished", status: "errored" } }]);
    expect(JSON.stringify(body)).not.toContain("secret");
  });

  test("is refused for an instance or a hook that isn't there, and without the permission to read", async () => {
    const app = await subject.start({ workflows, hooks });
    const http = subject.serve(app);
    expect(await http.get("/workflows/sleeper/instances/none/explain")).toMatchObject({ status: 404 });
    expect(await http.get("/hooks/none/explain")).toMatchObject({ status: 404, body: { code: "hook.not_found" } });
    const denied = subject.serve(app, { authorize: { create: () => true } });
    expect(await denied.get("/hooks/none/explain")).toMatchObject({ status: 403 });
  });
});
