import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { useFakeTime } from "../support/fake-time.ts";

const MINUTE_MS = 60_000;
const STATE = { id: "one", workflowName: "echo", run: 1, createdAt: "2026-01-01T00:00:00Z", startedAt: null };
const END = { instanceId: "one", eventId: 9, timestamp: 0, run: 1, type: "workflow_completed", output: "done" };

/** One instance, on a server that can be away, or hold connections open that are dead. */
class Server {
  state: "up" | "away" | "silent" = "up";
  finished = false;
  readonly requests: string[] = [];
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();

  readonly fetch = async ({ url }: Request): Promise<Response> => {
    const { pathname } = new URL(url);
    this.requests.push(pathname);
    if (this.state === "away") throw new TypeError("fetch failed");
    if (pathname.endsWith("/subscribe")) return this.#subscribe();
    const end = this.finished ? { status: "complete", output: "done", finishedAt: STATE.createdAt } : {};
    return Response.json({ ...STATE, status: "running", finishedAt: null, ...end });
  };

  /** Cuts all connections. */
  leave(): void {
    this.state = "away";
    for (const stream of this.#streams) stream.error(new TypeError("terminated"));
    this.#streams.clear();
  }

  finish(): void {
    this.finished = true;
    this.state = "up";
  }

  #subscribe(): Response {
    const { finished, state } = this;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
        send(": connected\n\n");
        if (finished && state === "up") send(`id: 9\nevent: ${END.type}\ndata: ${JSON.stringify(END)}\n\n`);
        this.#streams.add(controller);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream", "perdure-heartbeat-ms": "15000" } });
  }
}

describe("a client whose server is away", () => {
  let server: Server;
  beforeEach(() => {
    useFakeTime();
    server = new Server();
  });
  afterEach(() => void vi.useRealTimers());

  async function connect(retries = 4) {
    const options = { baseUrl: "http://localhost", fetch: server.fetch, names: {}, retries };
    return createClient(options).workflows["echo"]?.get("one");
  }

  test("for two minutes still returns the result", async () => {
    const instance = await connect(0);
    const result = instance?.result();
    await vi.advanceTimersByTimeAsync(1000);
    server.leave();
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
    server.finish();
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await result).toBe("done");
  });

  test("for two minutes continues its subscription", async () => {
    const subscription = await (await connect())?.subscribe();
    const next = subscription?.next();
    server.leave();
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
    server.finish();
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await next).toMatchObject({ value: { type: "workflow_completed", output: "done" } });
  });

  test("for good gives up in the end", async () => {
    const outcome = (await connect())?.result().catch((error: { code: string }) => error.code);
    server.leave();
    await vi.advanceTimersByTimeAsync(15 * MINUTE_MS);

    expect(await outcome).toBe("client.unreachable");
  });

  test("behind a connection that looks open reconnects when heartbeats are missing", async () => {
    server.state = "silent"; // and says no more on the streams that are opened now
    const next = (await (await connect())?.subscribe())?.next();
    await vi.advanceTimersByTimeAsync(1000);
    server.finish();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);

    expect(await next).toMatchObject({ value: { type: "workflow_completed" } });
    expect(server.requests.filter((path) => path.endsWith("/subscribe"))).toHaveLength(2);
  });

  test.each([
    ["seconds", () => "90"],
    ["a date", () => new Date(Date.now() + 90_000).toUTCString()],
  ])("and says with Retry-After in %s when it is back is not asked before", async (_, retryAfter) => {
    let asked = 0;
    const busy = async (request: Request) => {
      if (++asked > 1) return server.fetch(request);
      const body = { code: "http.unavailable", message: "later" };
      return Response.json(body, { status: 503, headers: { "retry-after": retryAfter() } });
    };
    const client = createClient({ baseUrl: "http://localhost", fetch: busy, names: {} });
    const instance = client.workflows["echo"]?.get("one");

    await vi.advanceTimersByTimeAsync(85_000);
    expect(asked).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);

    expect((await instance)?.id).toBe("one");
  });

  test("for an hour, by its own Retry-After, doesn't wait", async () => {
    const busy = async () =>
      Response.json(
        { code: "http.unavailable", message: "later" },
        { status: 503, headers: { "retry-after": "3600" } },
      );
    const client = createClient({ baseUrl: "http://localhost", fetch: busy, names: {} });
    await expect(client.workflows["echo"]?.get("one")).rejects.toMatchObject({ code: "http.unavailable" });
  });

  test("and never answers sends the request again after a minute", async () => {
    let asked = 0;
    const hanging = (request: Request) => (++asked > 1 ? server.fetch(request) : new Promise<Response>(() => {}));
    const client = createClient({ baseUrl: "http://localhost", fetch: hanging, names: {} });
    const instance = client.workflows["echo"]?.get("one");
    await vi.advanceTimersByTimeAsync(MINUTE_MS + 1000);
    expect((await instance)?.id).toBe("one");
  });
});
