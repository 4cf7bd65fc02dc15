import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createHttpHandler, type HttpHandler } from "../../src/http/index.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { useHttp } from "../http/support/use-http.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

describe.each(ENGINES)("a call that is repeated because its answer was lost, on $name", (engine) => {
  const subject = useHttp(engine);

  /** `meanwhile` happens after the first request that changes something has been done, and before it is sent again. */
  async function connect(meanwhile: (handler: HttpHandler) => Promise<unknown>) {
    const begun: string[] = [];
    const quick = defineWorkflow({ name: "quick" }, async ({ instanceId }) => void begun.push(instanceId));
    const waiting = defineWorkflow({ name: "waiting" }, async (_event, step) => {
      const { payload } = await step.waitForEvent<string>("word", { type: "word" });
      return payload;
    });
    const app = await subject.start({ workflows: { quick, waiting } });
    const handler = createHttpHandler(app, { authorize: () => true, logger: subject.logs });
    const lost = { done: true, requests: 0 };
    const client = createClient<typeof app>({
      baseUrl: "http://localhost",
      fetch: async (request) => {
        const changes = request.method !== "GET";
        if (changes) lost.requests += 1;
        const response = await handler(request);
        if (!changes || lost.done) return response;
        lost.done = true;
        await meanwhile(handler);
        throw new TypeError("fetch failed");
      },
    });
    const order = await app.workflows.waiting.create({ id: "one" });
    const remote = await client.workflows.waiting.get("one");
    lost.done = false;
    return { app, client, order, remote, begun, lost };
  }

  test("creates one instance, even if its retention has deleted it since", async () => {
    const { app, client, begun, lost } = await connect(async () => {
      await waitUntil("it has run", () => begun.length > 0);
      await waitUntil("it is gone", async () => {
        await app.parts.store.instances.statements.purge(app.parts.namespace, 100);
        return (await app.workflows.quick.list()).instances.length === 0;
      });
    });
    const retention = { successRetention: 0, errorRetention: 0 };

    const { id } = await client.workflows.quick.create({ retention });

    expect([begun, lost.requests]).toEqual([[id], 2]);
    expect((await app.workflows.quick.list()).instances).toEqual([]);
  });

  test("creates a batch once, even if it has been deleted since", async () => {
    const { app, client, begun } = await connect(async () => {
      await waitUntil("both have run", () => begun.length === 2);
      await app.workflows.quick.deleteBatch([...begun]);
    });

    const { created, errors } = await client.workflows.quick.createBatch({ count: 2 });

    expect([created.map(({ id }) => id).sort(), errors]).toEqual([[...begun].sort(), []]);
    expect((await app.workflows.quick.list()).instances).toEqual([]);
  });

  test("terminates the run that it was meant for, and not the next", async () => {
    const { order, remote, lost } = await connect(() => order.restart());
    await remote.terminate();
    expect(await order.status()).toMatchObject({ run: 2, finishedAt: null });
    expect(lost.requests).toBe(2);
  });

  test("pauses the run that it was meant for, and not the next", async () => {
    const { order, remote } = await connect(() => order.restart());
    await remote.pause();
    const { run, status } = await order.status();
    expect([run, ["paused", "waitingForPause"].includes(status)]).toEqual([2, false]);
  });

  test("pauses once: an instance that an operator has resumed since continues", async () => {
    const { order, remote } = await connect(() => order.resume());
    await remote.pause();
    expect(["paused", "waitingForPause"]).not.toContain((await order.status()).status);
  });

  test("resumes once: an instance that an operator has paused since stays paused", async () => {
    const { order, remote } = await connect(() => order.pause());
    await order.pause();
    await remote.resume();
    expect(["paused", "waitingForPause"]).toContain((await order.status()).status);
  });

  test.each([
    ["delete", (client: Remote) => client.delete("one")],
    ["deleteBatch", (client: Remote) => client.deleteBatch(["one"])],
  ])("deletes with %s the instance that it was meant for, and not a newer one with the same id", async (_, remove) => {
    const { app, client } = await connect(() => app.workflows.waiting.create({ id: "one" }));
    await remove({
      delete: async (id) => (await client.workflows.waiting.get(id)).delete(),
      deleteBatch: (ids) => client.workflows.waiting.deleteBatch(ids),
    });
    expect((await app.workflows.waiting.list()).instances).toHaveLength(1);
  });

  test.each([{}, { id: "event-1" }])("sends an event to the run that it was meant for (%j)", async (own) => {
    const { order, remote } = await connect(() => order.restart());

    await remote.sendEvent({ type: "word", payload: "first", ...own });
    await order.sendEvent({ type: "word", payload: "second" });

    expect(await order.result()).toBe("second");
  });
});

interface Remote {
  delete(id: string): Promise<unknown>;
  deleteBatch(ids: readonly string[]): Promise<unknown>;
}
