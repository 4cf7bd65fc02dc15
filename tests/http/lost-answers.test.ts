import { describe, expect, test } from "vitest";
import { StoreError } from "../../src/errors.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { WorkflowInstance } from "../../src/workflows/instances/instance.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import type { Reply } from "./support/use-http.ts";
import { useHttp } from "./support/use-http.ts";

describe.each([...ENGINES, ENCRYPTED_SQLITE])("requests whose answers could not be written, on $name,", (engine) => {
  const subject = useHttp(engine);
  const ONE = "/workflows/waiting/instances/one";

  async function setUp() {
    const begun: string[] = [];
    const quick = defineWorkflow({ name: "quick" }, async ({ instanceId }) => void begun.push(instanceId));
    const waiting = defineWorkflow({ name: "waiting" }, async (_event, step) => {
      const first = await step.waitForEvent<string>("first", { type: "word" });
      const second = await step.waitForEvent<string>("second", { type: "word" });
      return [first.payload, second.payload];
    });
    const failing = defineWorkflow({ name: "failing" }, async (_event, step) => {
      await step.do("fail", { retries: { limit: 0, delay: 0 } }, async () => {
        begun.push("failing");
        throw new Error("always");
      });
    });
    const app = await subject.start({ workflows: { quick, waiting, failing } });
    const client = subject.serve(app, { logger: subject.logs });
    const order = await app.workflows.waiting.create({ id: "one" });
    /**
     * Sends a request twice. The first time the process is lost, as it were: after it is done and before that is written, or
     * before it is done.
     */
    const twice = async (
      send: (init: Keyed) => Promise<KeyedReply>,
      meanwhile: () => Promise<unknown>,
      lost: "finish" | "begin" = "finish",
    ) => {
      const init = { headers: { "idempotency-key": crypto.randomUUID() } };
      const { requests } = app.parts.store.engine;
      const { [lost]: whole } = requests;
      requests[lost] = async (...parameters: never[]) => {
        if (lost === "begin") await (whole as (...all: never[]) => Promise<unknown>).apply(requests, parameters);
        throw new StoreError("store.unavailable", "The process was lost.", { transient: true });
      };
      const first = await send(init);
      Object.assign(requests, { [lost]: whole });
      expect(first.status).toBe(503);
      await meanwhile();
      return send(init);
    };
    const gone = () =>
      waitUntil("everything of quick is gone", async () => {
        await app.parts.store.instances.statements.purge(app.parts.namespace, 100);
        return (await app.workflows.quick.list()).instances.length === 0;
      });
    return { app, client, order, begun, twice, gone };
  }

  const retention = { successRetention: 0, errorRetention: 0 };

  test("create one instance, though that has been purged since", async () => {
    const { client, begun, twice, gone } = await setUp();
    const create = (init: Keyed) => client.post("/workflows/quick/instances", { retention }, init);

    const reply = await twice(create, async () => {
      await waitUntil("it has run", () => begun.length === 1);
      await gone();
    });

    expect([reply.status, reply.body["id"]]).toEqual([201, begun[0]]);
    await gone();
    expect(begun).toHaveLength(1);
  });

  test("run an instance once that is still there", async () => {
    const { app, client, begun, twice } = await setUp();
    const create = (init: Keyed) => client.post("/workflows/quick/instances", { id: "own" }, init);
    const reply = await twice(create, async () => (await app.workflows.quick.get("own")).result());

    expect(reply.status).toBe(201);
    await app.drain();
    expect(begun).toEqual(["own"]);
  });

  test("create each instance of a batch once, though some have been purged since", async () => {
    const { client, begun, twice, gone } = await setUp();
    const batch = { instances: [{ retention }, { retention, id: "own" }] };
    const create = (init: Keyed) => client.post("/workflows/quick/instances/batch", batch, init);

    const reply = await twice(create, async () => {
      await waitUntil("both have run", () => begun.length === 2);
      await gone();
    });

    expect((reply.body as unknown as Created).created.map(({ id }) => id).sort()).toEqual([...begun].sort());
    expect(begun).toHaveLength(2);
  });

  test("pause once: an instance that an operator has resumed since continues", async () => {
    const { client, order, twice } = await setUp();
    const reply = await twice(
      (init) => client.post(`${ONE}/pause`, undefined, init),
      () => order.resume(),
    );
    expect(reply.status).toBe(204);
    expect(["paused", "waitingForPause"]).not.toContain((await order.status()).status);
  });

  test.each([true, false])(
    "resume once: an instance that an operator has paused since stays so (%s)",
    async (paused) => {
      const { client, order, twice } = await setUp();
      if (paused) await order.pause();
      const reply = await twice(
        (init) => client.post(`${ONE}/resume`, undefined, init),
        () => order.pause(),
      );
      expect(reply.status).toBe(204);
      expect(["paused", "waitingForPause"]).toContain((await order.status()).status);
    },
  );

  test.each(["terminate", "restart"])(
    "%s once, and leave the run alone that an operator has begun since",
    async (what) => {
      const { client, order, twice } = await setUp();
      const reply = await twice(
        (init) => client.post(`${ONE}/${what}`, undefined, init),
        () => order.restart(),
      );
      expect(reply.status).toBe(204);
      expect(await order.status()).toMatchObject({ run: what === "restart" ? 3 : 2, finishedAt: null });
    },
  );

  test("restart from a step once", async () => {
    const { client, order, twice } = await setUp();
    await order.sendEvent({ type: "word", payload: "a" });
    await client.becomes(ONE, "waiting");
    await waitUntil("the event was received", async () => (await order.history()).entries.some(({ event }) => event));
    const from = { name: "first", type: "waitForEvent" };
    const reply = await twice(
      (init) => client.post(`${ONE}/restart`, { from }, init),
      async () => {},
    );
    expect([reply.status, (await order.status()).run]).toEqual([204, 2]);
  });

  test("retry failed steps once", async () => {
    const { app, client, begun, twice } = await setUp();
    const failed = await app.workflows.failing.create({ id: "one" });
    await failed.result().catch(() => {});
    const reply = await twice(
      (init) => client.post("/workflows/failing/instances/one/retry", undefined, init),
      () => failed.result().catch(() => {}),
    );
    expect([reply.status, (await failed.status()).run, begun.length]).toEqual([204, 2, 2]);
  });

  test.each([
    ["created", "new"],
    ["restarted", "one"],
  ])("ensure once that an instance runs: %s", async (outcome, id) => {
    const { app, client, order, twice } = await setUp();
    await order.terminate();
    const reply = await twice(
      (init) => client.post(`/workflows/waiting/instances/${id}/restart-or-create`, { params: 1 }, init),
      async () => (await app.workflows.waiting.get(id)).terminate(),
    );
    expect([reply.status, reply.body["outcome"]]).toEqual([200, outcome]);
    expect((await (await app.workflows.waiting.get(id)).status()).status).toBe("terminated");
  });

  test.each([
    ["delete", (client: Sender, init: Keyed) => client.delete(ONE, init), 204],
    [
      "deleteBatch",
      (client: Sender, init: Keyed) => client.post("/workflows/waiting/instances/batch/delete", { ids: ["one"] }, init),
      200,
    ],
  ] as const)("%s once, and nothing that has the id since", async (_, remove, status) => {
    const { app, client, twice } = await setUp();
    const reply = await twice(
      (init) => remove(client, init),
      () => app.workflows.waiting.create({ id: "one" }),
    );
    expect(reply.status).toBe(status);
    if (status === 200) expect(reply.body).toEqual({ deleted: [{ id: "one" }], errors: [] });
    expect((await app.workflows.waiting.list()).instances).toHaveLength(1);
  });

  test("send an event once", async () => {
    const { client, order, twice } = await setUp();
    const reply = await twice(
      (init) => client.post(`${ONE}/events`, { type: "word", payload: "once" }, init),
      async () => {},
    );
    await order.sendEvent({ type: "word", payload: "last" });
    expect(reply.status).toBe(204);
    expect(await order.result()).toEqual(["once", "last"]);
  });

  test.each([
    ["created", "new"],
    ["sent", "one"],
  ])("create an instance with its event, or send that, once: %s", async (outcome, id) => {
    const { app, client, twice } = await setUp();
    const event = { type: "word", payload: "once" };
    const reply = await twice(
      (init) => client.post(`/workflows/waiting/instances/${id}/create-or-send`, { event }, init),
      async () => (await app.workflows.waiting.get(id)).restart(),
    );
    const instance = await app.workflows.waiting.get(id);
    for (const payload of ["first", "last"]) await instance.sendEvent({ type: "word", payload });
    expect([reply.status, reply.body["outcome"]]).toEqual([200, outcome]);
    expect(await instance.result()).toEqual(["first", "last"]); // of a run that began after the event was sent
  });

  test("send an event once to each instance with a label", async () => {
    const { app, client, twice } = await setUp();
    const labels = { tenant: "acme" };
    const instance = await app.workflows.waiting.create({ labels });
    const reply = await twice(
      (init) => client.post("/workflows/waiting/events", { labels, type: "word", payload: "once" }, init),
      async () => {},
    );
    await instance.sendEvent({ type: "word", payload: "last" });
    expect([reply.status, reply.body]).toEqual([200, { sent: 1, full: 0, cursor: null }]);
    expect(await instance.result()).toEqual(["once", "last"]);
  });

  test.each<[string, (order: Order) => Promise<unknown>]>([
    ["ended", (order) => order.terminate()],
    ["been restarted", (order) => order.restart()],
    ["been deleted", (order) => order.delete()],
  ])("send an event that has arrived, though its instance has %s since", async (_, meanwhile) => {
    const { client, order, twice } = await setUp();
    const reply = await twice(
      (init) => client.post(`${ONE}/events`, { type: "word", payload: "once" }, init),
      () => meanwhile(order),
    );
    expect(reply.status).toBe(204);
  });

  test.each<[string, (client: Sender, init: Keyed) => Promise<KeyedReply>]>([
    ["pause", (client, init) => client.post(`${ONE}/pause`, undefined, init)],
    ["resume", (client, init) => client.post(`${ONE}/resume`, undefined, init)],
    ["terminate", (client, init) => client.post(`${ONE}/terminate`, undefined, init)],
    ["restart", (client, init) => client.post(`${ONE}/restart`, undefined, init)],
    ["delete", (client, init) => client.delete(ONE, init)],
    ["an event", (client, init) => client.post(`${ONE}/events`, { type: "word", payload: "once" }, init)],
  ])("are refused if another run has begun before they were done: %s", async (_, send) => {
    const { client, order, twice } = await setUp();
    const reply = await twice(
      (init) => send(client, init),
      async () => {
        await order.restart();
        await order.pause();
      },
      "begin",
    );
    expect([reply.status, reply.body["code"]]).toEqual([409, "instance.run_changed"]);
    expect(await order.status()).toMatchObject({ run: 2, status: expect.stringMatching(/^(paused|waitingForPause)$/) });
    expect((await order.unreceivedEvents()).events).toEqual([]);
  });

  test("are refused again where they were refused", async () => {
    const { client, order } = await setUp();
    await order.terminate();
    const init = { headers: { "idempotency-key": "a" } };
    const pause = () => client.post(`${ONE}/pause`, undefined, init);
    expect([(await pause()).body["code"], (await pause()).body["code"]]).toEqual([
      "instance.finished",
      "instance.finished",
    ]);
    await order.restart();
    expect((await pause()).status).toBe(204);
  });
});

type Order = Pick<WorkflowInstance, "terminate" | "restart" | "delete">;

/** What is sent with a request. */
interface Keyed {
  readonly headers: Record<string, string>;
}

type KeyedReply = Reply<Record<string, unknown>>;

interface Created {
  readonly created: { readonly id: string }[];
}

interface Sender {
  delete(path: string, init?: Keyed): Promise<KeyedReply>;
  post(path: string, body?: unknown, init?: Keyed): Promise<KeyedReply>;
}
