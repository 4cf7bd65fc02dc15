import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { WorkflowEvent } from "../../src/workflows/define/workflow-event.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const INSTANCES = "/workflows/approval/instances";

describe.each(ENGINES)("a process without the code of a workflow on $name", (engine) => {
  const subject = useHttp(engine);

  /** The process that has the code, and the handler of an operator's process that has none. */
  async function setUp() {
    const terminated: string[] = [];
    const approval = defineWorkflow(
      {
        name: "approval",
        schedules: [{ cron: "0 2 * * *", name: "night" }],
        onTerminated: ({ instanceId }) => void terminated.push(instanceId),
      },
      async (_event: WorkflowEvent<unknown>, step) => {
        await step.do("ask", async () => "asked");
        return (await step.waitForEvent<unknown>("answer", { type: "approved" })).payload;
      },
    );
    const app = await subject.start({ workflows: { approval } });
    await app.workflows.approval.create({ id: "one", labels: { tenant: "acme" } });
    const operator = await subject.start({ namespace: app.parts.namespace, worker: false });
    const client = subject.serve(operator);
    await client.becomes(`${INSTANCES}/one`, "waiting");
    return { app, operator, client, terminated };
  }

  const act = (client: Client, action: string, body?: unknown) => client.post(`${INSTANCES}/one/${action}`, body);

  test("lists, reads and explains stored instances", async () => {
    const { client } = await setUp();

    const page = await client.get<{ instances: { id: string }[] }>(`${INSTANCES}?label=tenant=acme`);
    expect(page.body.instances).toMatchObject([{ id: "one", workflowName: "approval" }]);
    const none = await client.get(`${INSTANCES}?status=errored`);
    expect(none.body).toEqual({ instances: [], cursor: null });
    const history = await client.get<{ entries: { name: string }[] }>(`${INSTANCES}/one/history`);
    expect(history.body.entries.map(({ name }) => name)).toEqual(["ask", "answer"]);
    const explained = await client.get<{ reason: object }>(`${INSTANCES}/one/explain`);
    expect(explained.body.reason).toMatchObject({ reason: "waitingForEvent", type: "approved" });
    const versions = await client.get("/workflows/approval/versions");
    expect(versions.body).toEqual({ versions: [{ version: null, unfinished: 1, registered: false }] });
  });

  test.each(["%00", "a%00b", "a%20b", "-a"])(
    "finds no workflow %s, which no database has to look for",
    async (name) => {
      const { client } = await setUp();

      for (const path of ["instances", "versions", "instances/one", "instances/one/history"]) {
        const { status, body } = await client.get(`/workflows/${name}/${path}`);
        expect({ path, status, code: body.code }).toEqual({ path, status: 404, code: "workflow.not_found" });
      }
      const filter = { action: "pause", instances: { workflow: decodeURIComponent(name) } };
      expect(await client.post("/jobs", filter)).toMatchObject({ status: 400, body: { code: "options.invalid" } });
    },
  );

  test("pauses, resumes, and sends events", async () => {
    const { client } = await setUp();

    expect((await act(client, "pause")).status).toBe(204);
    await client.becomes(`${INSTANCES}/one`, "paused");
    expect((await act(client, "resume")).status).toBe(204);
    expect((await act(client, "events", { type: "approved", payload: "yes" })).status).toBe(204);
    expect(await client.becomes(`${INSTANCES}/one`, "complete")).toMatchObject({ output: "yes" });
    expect((await act(client, "restart")).status).toBe(204);
    await client.becomes(`${INSTANCES}/one`, "waiting");
    const sent = await client.post("/workflows/approval/events", { labels: { tenant: "acme" }, type: "approved" });
    expect(sent.body).toEqual({ sent: 1, full: 0, cursor: null });
    await client.becomes(`${INSTANCES}/one`, "complete");
    const deleted = await client.post(`${INSTANCES}/batch/delete`, { ids: ["one"] });
    expect(deleted.body).toEqual({ deleted: [{ id: "one" }], errors: [] });
  });

  test("terminates, and a worker that has the workflow runs its hook", async () => {
    const { app, client, terminated } = await setUp();
    await waitUntil("the worker is listed", async () => (await app.workers()).length > 0 || null);

    expect((await act(client, "terminate")).status).toBe(204);

    await waitUntil("the hook is called", () => terminated.length > 0 || null);
    expect(terminated).toEqual(["one"]);
    expect((await app.workers())[0]?.hooks).toEqual([]); // it is the library's own
  });

  test("pauses and resumes schedules", async () => {
    const { app, client } = await setUp();
    await waitUntil("the schedule is stored", async () => (await app.schedules.list()).length > 0 || null);

    expect((await client.post("/schedules/approval/night/pause")).status).toBe(204);
    expect(await app.schedules.list()).toMatchObject([{ paused: true }]);
    expect((await client.post("/schedules/approval/night/resume")).status).toBe(204);
    expect(await app.schedules.list()).toMatchObject([{ paused: false }]);
  });

  test("refuses what needs the code, and changes nothing", async () => {
    const { client } = await setUp();

    const refused = [
      await client.post(INSTANCES, { id: "two" }),
      await act(client, "restart", { version: "newest" }),
      await client.post("/schedules/approval/night/run"),
      await client.post("/schedules/other/night/pause"),
      await client.get("/workflows/other/versions"),
      await client.post("/workflows/other/instances", {}),
    ];

    expect(refused.map(({ status, body }) => [status, body["code"]])).toEqual(
      refused.map(() => [404, "workflow.not_found"]),
    );
    expect((await client.get(`${INSTANCES}/one`)).body).toMatchObject({ status: "waiting", run: 1 });
    expect((await client.get(`${INSTANCES}/two`)).body["code"]).toBe("instance.not_found");
  });

  test("finds instances in process, too", async () => {
    const { operator } = await setUp();

    const instance = await operator.instances.get("approval", "one");

    expect(await instance.status()).toMatchObject({ status: "waiting", labels: { tenant: "acme" } });
    await expect(operator.instances.get("aproval", "one")).rejects.toMatchObject({ code: "workflow.not_found" });
    await expect(operator.instances.get("approval", "two")).rejects.toMatchObject({ code: "workflow.not_found" });
  });
});
