import { describe, expect, test } from "vitest";
import { z } from "zod";
import { perdure } from "../../src/app/perdure.ts";
import { PUBLIC_ACCESS } from "../../src/http/access/access.ts";
import { EventStreams, type EventSubscription } from "../../src/http/answers/event-stream.ts";
import { ControlledClock } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import type { Document } from "./support/document.ts";
import { type ReadEvent, readEvents } from "./support/read-events.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const PATH = "/workflows/approval/instances/one";

describe.each(ENGINES)("streams of events on $name", (engine) => {
  const subject = useHttp(engine);

  async function setUp(options: Parameters<typeof subject.serve>[1] = {}) {
    const app = await subject.start({ workflows, hooks });
    const client = subject.serve(app, options);
    await client.post("/workflows/approval/instances", { id: "one", params: { for: "Ada" } });
    return { app, client };
  }

  function open(client: Client, query = "", init: RequestInit = {}): Promise<Response> {
    return client.handler(new Request(`http://localhost${PATH}/subscribe${query}`, init));
  }

  const approve = (client: Client) => client.post(`${PATH}/events`, { type: "approved", payload: { by: "Ada" } });

  test("tell what happens until the end, each with an id and a type", async () => {
    const { client } = await setUp();
    const response = await open(client);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store, no-transform");
    const events: ReadEvent[] = [];

    for await (const event of readEvents(response)) {
      events.push(event);
      if (event.type === "step_completed") await approve(client);
    }

    const types = events.map(({ type }) => type);
    expect(types[0]).toBe("workflow_queued");
    expect(types).toContain("wait_completed");
    expect(types.at(-1)).toBe("workflow_completed");
    expect(events.at(-1)?.data["output"]).toEqual({ by: "Ada" });
    const ids = events.map(({ id }) => Number(id));
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    expect(events.map(({ data }) => [String(data["eventId"]), data["type"]])).toEqual(
      events.map(({ id, type }) => [id, type]),
    );
  });

  test("continue after the last event that was seen, with no gap and none twice", async () => {
    const { client } = await setUp();
    await approve(client);
    await client.becomes(PATH, "complete");
    const all = await Array.fromAsync(readEvents(await open(client)));
    expect(all.length).toBeGreaterThan(5);

    for (const [index, { id }] of all.slice(0, -1).entries()) {
      const byHeader = await open(client, "?cursor=0", { headers: { "last-event-id": id } });
      expect(await Array.fromAsync(readEvents(byHeader))).toEqual(all.slice(index + 1));
    }
    const byCursor = await open(client, `?cursor=${all[2]?.id}&filter=step_completed&filter=workflow_completed`);
    expect((await Array.fromAsync(readEvents(byCursor))).map(({ type }) => type)).toEqual([
      "step_completed",
      "workflow_completed",
    ]);
  });

  test("end for clients that have seen the end, so that browsers don't reconnect", async () => {
    const { client } = await setUp();
    await approve(client);
    await client.becomes(PATH, "complete");
    const last = (await Array.fromAsync(readEvents(await open(client)))).at(-1)?.id as string;

    expect((await open(client, "", { headers: { "last-event-id": last } })).status).toBe(204);
    await client.post(`${PATH}/restart`);
    const next = await open(client, "", { headers: { "last-event-id": last } });
    for await (const event of readEvents(next)) {
      expect([event.type, event.data["run"]]).toEqual(["workflow_queued", 2]);
      break;
    }
  });

  test("are limited in number, and free their place when their reader leaves, however it does", async () => {
    const { client } = await setUp({ maxStreams: 1 });
    const refused = async () => (await open(client)).status === 503;
    const first = await open(client);
    expect((await client.get(`${PATH}/subscribe`)).body["code"]).toBe("http.too_many_streams");

    await first.body?.cancel();
    const leaving = new AbortController();
    const second = await open(client, "", { signal: leaving.signal });
    expect([second.status, await refused()]).toEqual([200, true]);

    leaving.abort();
    const third = await open(client);
    expect([third.status, await refused()]).toEqual([200, true]);

    await client.delete(PATH);
    await waitUntil("the stream has ended with its instance", async () => {
      for await (const _ of readEvents(third));
      return true;
    });
    expect((await open(client)).status).toBe(404);
    expect(subject.logs.messages("error")).toEqual([]);
  });

  test("of unknown instances, or from unknown cursors, are refused", async () => {
    const { client } = await setUp();
    const bad = [
      await client.get("/workflows/approval/instances/none/subscribe"),
      await client.get(`${PATH}/subscribe`, { headers: { "last-event-id": "x" } }),
      await client.get(`${PATH}/subscribe?cursor=-1`),
      await client.get(`${PATH}/subscribe?cursor=9007199254740991`),
      await client.get(`${PATH}/subscribe?filter=everything`),
    ];

    expect(bad.map(({ status, body }) => [status, body["code"]])).toEqual([
      [404, "instance.not_found"],
      [400, "http.invalid_request"],
      [400, "http.invalid_request"],
      [400, "cursor.invalid"],
      [400, "http.invalid_request"],
    ]);
  });

  test("hide values where that is wanted", async () => {
    const { client } = await setUp({ redact: true });
    await approve(client);
    const text = await (await open(client)).text();
    expect(text).toContain("[REDACTED]");
    expect(text).not.toContain("Ada");
  });

  test("say what the document says", async () => {
    const { client } = await setUp();
    await approve(client);
    const { body } = await client.get<Document>("/openapi.json");
    const schema = z.fromJSONSchema(body.components.schemas["InstanceEvent"] as never);
    for await (const { data } of readEvents(await open(client))) expect(schema.safeParse(data).error).toBeUndefined();
  });

  test("end with the application, and so does all that waits in it", async () => {
    const opened = subject.database?.toOpen();
    if (opened === undefined) throw new Error("There is no database.");
    const app = await perdure({ database: opened, workflows, namespace: "ending", logger: subject.logs });
    const instance = await app.workflows.approval.create({ id: "one" });
    const stream = readEvents(await open(subject.serve(app)));
    while ((await stream.next()).value?.type !== "wait_started");
    const waiting = [instance.result(), (await instance.subscribe({ filter: ["workflow_completed"] })).next()].map(
      (promise) =>
        promise.then(
          () => "none",
          (error) => error.code,
        ),
    );

    await app.stop();
    await app.parts.store.close(); // where it isn't the application's own

    for await (const { type } of stream) expect(type).toBe("workflow_waiting"); // it ends, without an end of the run
    expect(await Promise.all(waiting)).toEqual(["store.closed", "store.closed"]);
    await expect(instance.result()).rejects.toMatchObject({ code: "store.closed" });
    expect(subject.logs.messages("error")).toEqual([]);
  });

  test("aren't silent for long", async () => {
    const clock = new ControlledClock();
    const adapter = subject.database?.reopen({ clock });
    if (adapter === undefined) throw new Error("There is no database.");
    await using app = await perdure({ database: adapter, workflows, namespace: "silent", worker: false });
    await app.workflows.approval.create({ id: "one" });
    const client = subject.serve(app, { heartbeatMs: 10_000 });
    const reader = (await open(client, "?filter=workflow_completed")).body?.getReader();
    const read = async () => new TextDecoder().decode((await reader?.read())?.value);
    expect(await read()).toBe(": connected\n\n");

    const next = read();
    for (let seconds = 0; seconds < 10; seconds++) await clock.advanceAndSettle(1000);

    expect(await next).toBe(": waiting\n\n");
    await reader?.cancel();
  });
});

const LIMITS = { maxStreamsPerCaller: 1, maxStreamAgeMs: 3_600_000, recheckMs: 60_000 };

test("a stream whose reader is slow holds one event, and asks for no other", async () => {
  let asked = 0;
  let freed = 0;
  const subscription: EventSubscription = {
    next: async () => ({ done: false, value: { id: String(++asked), type: "t", data: "x".repeat(1000) } }),
    return: async () => freed++,
  };
  const clock = new ControlledClock();
  const streams = new EventStreams({
    clock,
    ...LIMITS,
    maxStreams: 10_000,
    maxUnreadBytes: 1e9,
    heartbeatMs: 1000,
    onError: () => {},
  });
  const request = () => new Request("http://localhost/");

  const responses = await Promise.all(
    Array.from({ length: 5000 }, () => streams.answer(request(), PUBLIC_ACCESS, async () => subscription)),
  );
  await clock.advanceAndSettle(60_000);

  expect([streams.open, asked]).toEqual([5000, 0]); // not even one: no reader has read that it is connected
  const readers = responses.map(({ body }) => body?.getReader());
  for (let reads = 0; reads < 2; reads++) await Promise.all(readers.map((reader) => reader?.read()));
  await clock.advanceAndSettle(60_000);
  expect(asked).toBe(5000);
  await Promise.all(readers.map((reader) => reader?.cancel()));
  expect([streams.open, freed]).toEqual([0, 5000]);
});

test("streams whose readers leave too much unread are cut off, the slowest first, and no others", async () => {
  const clock = new ControlledClock();
  const settings = { ...LIMITS, clock, maxStreams: 100, maxUnreadBytes: 10_000, heartbeatMs: 1000, onError: () => {} };
  const streams = new EventStreams(settings);
  const open = async () => {
    let id = 0;
    const next = async () => ({ done: false, value: { id: String(++id), type: "t", data: "x".repeat(3000) } }) as const;
    const { body } = await streams.answer(new Request("http://localhost/"), PUBLIC_ACCESS, async () => ({
      next,
      return: async () => {},
    }));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    await read(); // that it is connected
    return { read, closed: reader.closed };
  };
  const slow = [await open(), await open()];
  for (const { read } of slow) expect(await read()).toContain("id: 1");
  const quick = await open();

  for (let id = 1; id < 50; id++) expect(await quick.read()).toContain(`id: ${id}\n`);
  expect(streams.open).toBe(3);
  const another = await open();
  await another.read();

  await expect(slow[0]?.closed).rejects.toThrow("too slow");
  expect(streams.open).toBe(3);
  expect(await slow[1]?.read()).toContain("id: 2");
});
