import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createHttpHandler } from "../../src/http/index.ts";
import { useHttp } from "../http/support/use-http.ts";
import { ENGINES } from "../support/engines.ts";
import { Network } from "./support/network.ts";
import { type App, start } from "./support/sample-app.ts";

describe.each(ENGINES)("a client over a bad network on $name", (engine) => {
  const subject = useHttp(engine);

  async function connect() {
    const app = await start(subject);
    const handler = createHttpHandler(app, { basePath: "/perdure", authorize: () => true, logger: subject.logs });
    const network = new Network(handler);
    const client = createClient<App>({ baseUrl: "http://localhost/perdure", fetch: network.fetch });
    return { app, client, network };
  }

  test("creates, sends and ends once, though answers are lost", async () => {
    const { app, client, network } = await connect();
    network.loseAnswersOf(/POST .*instances$/, /POST .*events$/, /POST .*terminate$/, /DELETE/);
    const order = await client.workflows.checkout.create({ id: "order-1", params: { total: 1 } });
    await order.sendEvent({ type: "approved", payload: { by: "Ada" } });
    expect(await order.result()).toMatchObject({ by: "Ada" });
    expect((await app.workflows.checkout.list()).instances).toHaveLength(1);

    const another = await client.workflows.checkout.create({ id: "order-2", params: { total: 1 } });
    await another.terminate();
    expect((await another.status()).status).toBe("terminated");
    await another.delete();
    await expect(another.status()).rejects.toMatchObject({ code: "instance.not_found" });
    const sent = (end: RegExp) => network.requests.filter((request) => end.test(request)).length;
    expect([sent(/checkout-workflow\/instances$/), sent(/events$/), sent(/terminate$/), sent(/DELETE/)]).toEqual([
      3, 2, 2, 2,
    ]);
  });

  test("creates and deletes a batch once, though answers are lost", async () => {
    const { app, client, network } = await connect();
    network.loseAnswersOf(/POST .*batch$/, /POST .*delete$/);
    const { created, errors } = await client.workflows.echo.createBatch({ count: 3, params: 1 });
    expect([created.length, errors, (await app.workflows.echo.list()).instances.length]).toEqual([3, [], 3]);
    const ids = created.map(({ id }) => id);

    expect(await client.workflows.echo.deleteBatch(ids)).toEqual({ deleted: ids.map((id) => ({ id })), errors: [] });
    expect((await app.workflows.echo.list()).instances).toEqual([]);
  });

  test("restarts once, however often that is sent", async () => {
    const { client, network } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    network.loseAnswersOf(/restart$/);

    await order.restart();
    expect((await order.status()).run).toBe(2);
    expect(network.requests.filter((request) => request.endsWith("/restart"))).toHaveLength(2);
  });

  test("continues after the last event when the stream is cut", async () => {
    const { client, network } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    const { fetch } = network;
    let cuts = 0;
    const cutting = createClient<App>({
      baseUrl: "http://localhost/perdure",
      fetch: async (request) => {
        const response = await fetch(request);
        if (!request.url.includes("/subscribe") || ++cuts > 2) return response;
        const reader = response.body?.getReader();
        return new Response(
          new ReadableStream({
            async pull(controller) {
              const { value, done } = (await reader?.read()) ?? { done: true };
              if (done) controller.close();
              else controller.enqueue(value);
              if (String(new TextDecoder().decode(value)).includes("eventId"))
                controller.error(new TypeError("terminated"));
            },
          }),
          response,
        );
      },
    });
    const types: string[] = [];
    await order.sendEvent({ type: "approved", payload: { by: "Ada" } });
    // Those that are stored: the state of the moment is told only to readers who look at that moment.
    const filter = [
      "workflow_queued",
      "step_completed",
      "wait_started",
      "wait_completed",
      "workflow_completed",
    ] as const;
    const cut = await (await cutting.workflows.checkout.get(order.id)).subscribe({ filter });
    for await (const { type } of cut) types.push(type);

    expect(types).toEqual(filter);
    expect(cuts).toBeGreaterThan(2);
  });

  test("gives up on a server that isn't there, and says so", async () => {
    const { network } = await connect();
    network.lose = () => "request";
    const client = createClient<App>({ baseUrl: "http://localhost/perdure", fetch: network.fetch, retries: 2 });

    await expect(client.workflows.echo.create({ params: 1 })).rejects.toMatchObject({ code: "client.unreachable" });
    expect(network.requests).toHaveLength(3);
  });

  test("treats a truncated answer as lost, and does nothing twice", async () => {
    const { app, client, network } = await connect();
    network.cutAnswersOf(/GET .*workflows$/, /POST .*instances$/, /GET .*order-1$/, /GET .*instances$/);
    const order = await client.workflows.checkout.create({ id: "order-1", params: { total: 1 } });

    expect((await order.status()).run).toBe(1);
    expect((await client.workflows.checkout.list()).instances).toHaveLength(1);
    expect((await app.workflows.checkout.list()).instances).toHaveLength(1);
    expect(network.requests).toHaveLength(8);
  });

  test("restarts and deletes once though the server loses its database for a while", async () => {
    const { client, network } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    const unavailable = { code: "http.unavailable", message: "The database can't be used just now." };
    const replaced = new Set(["POST", "DELETE"]);
    network.replace = ({ method }) => (replaced.delete(method) ? Response.json(unavailable, { status: 503 }) : null);

    await order.restart();
    expect((await order.status()).run).toBe(2);
    await order.delete();
    await expect(order.status()).rejects.toMatchObject({ code: "instance.not_found" });
    const sent = (end: RegExp) => network.requests.filter((request) => end.test(request)).length;
    expect([sent(/restart$/), sent(/^DELETE/)]).toEqual([2, 2]);
  });

  test("misses no event after a stream was cut before its first event", async () => {
    const { app, client, network } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    const streams: string[] = [];
    network.replace = ({ url }, { body }) => {
      if (!url.includes("/subscribe") || streams.push(url) > 2) return null;
      void body?.cancel();
      const empty = new ReadableStream({
        start: (controller) => (streams.length === 1 ? controller.error(new TypeError("cut")) : controller.close()),
      });
      return new Response(empty, { headers: { "content-type": "text/event-stream" } });
    };
    const filter = ["step_completed", "wait_completed"] as const;
    const subscription = await order.subscribe({ filter });
    await order.sendEvent({ type: "approved", payload: { by: "Ada" } });
    await (await app.workflows.checkout.get(order.id)).result();

    const types: string[] = [];
    for await (const { type } of subscription) types.push(type);

    expect(types).toEqual(filter);
    expect((await subscription.next()).done).toBe(true);
  });

  test("ends if no event that it asks for has happened", async () => {
    const { client } = await connect();
    const order = await client.workflows.echo.create();
    await order.result();
    expect(await (await order.subscribe({ filter: ["sleep_started"] })).next()).toEqual({ done: true });
  });

  test("doesn't request an event that it can't read forever", async () => {
    const { client, network } = await connect();
    const order = await client.workflows.checkout.create({ params: { total: 1 } });
    network.replace = ({ url }) => {
      if (!url.includes("/subscribe")) return null;
      const text = 'id: 1\nevent: x\ndata: {"eventId":1,"output":{"$perdure":"of another version"}}\n\n';
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    };
    const subscription = await order.subscribe();

    await expect(subscription.next()).rejects.toMatchObject({ code: "client.unexpected_answer" });
    expect((await subscription.next()).done).toBe(true);
  });

  test("accepts no answer of a proxy as an answer of the server", async () => {
    const { app, client, network } = await connect();
    const order = await client.workflows.echo.create({ id: "one" });
    const page = new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
    const redirect = new Response(null, { status: 301, headers: { location: "http://localhost/elsewhere" } });
    for (const answer of [page, redirect]) {
      network.replace = () => answer.clone();
      const calls = [
        () => client.workflows.echo.create({ id: "two" }),
        () => order.status(),
        () => order.subscribe(),
        () => order.pause(),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "client.unexpected_answer" });
    }
    expect(network.requests.filter((request) => request.startsWith("GET /workflows/"))).toHaveLength(4);
    expect((await app.workflows.echo.list()).instances).toHaveLength(2);
  });
});
