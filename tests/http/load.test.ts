import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

const STREAMS = 2000;
const MEBIBYTE = 1024 * 1024;

/** On one engine: what is shown here is that of the server, and costs time. */
describe("under load", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);
  const sockets: Socket[] = [];
  let server: Server | undefined;

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  });

  async function setUp() {
    const app = await subject.start({ workflows, hooks });
    const handler = createHttpHandler(app, { authorize: () => true, maxStreams: STREAMS, logger: subject.logs });
    server = createServer(toNodeHandler(handler)).listen(0, "127.0.0.1", 5000);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const ask = async (method: string, path: string, body?: unknown) => {
      const headers = { "content-type": "application/json" };
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
      await response.arrayBuffer();
      return response.status;
    };
    return { app, port, ask };
  }

  /** Sends a request by hand, and keeps what comes back. */
  async function open(port: number, text: string): Promise<{ socket: Socket; received: () => string }> {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    let received = "";
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
    });
    socket.on("error", () => {});
    socket.write(text);
    return { socket, received: () => received };
  }

  const subscription = "GET /workflows/approval/instances/one/subscribe HTTP/1.1\r\nHost: a\r\n\r\n";

  test(`${STREAMS} streams are open at once, in little memory, and all see the end`, async () => {
    const { port, ask } = await setUp();
    await ask("POST", "/workflows/approval/instances", { id: "one" });
    const before = process.memoryUsage.rss();
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => open(port, subscription)));
    // A quarter of them stops reading, and takes part no more.
    const readers = streams.filter((_, index) => index % 4 !== 0);
    await waitUntil("all are open", () => streams.every(({ received }) => received().includes(": connected")));
    for (const { socket } of streams.filter((_, index) => index % 4 === 0)) socket.pause();

    const refused = await fetch(`http://127.0.0.1:${port}/workflows/approval/instances/one/subscribe`);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "http.too_many_streams"]);
    expect(await ask("GET", "/workflows/approval/instances/one")).toBe(200);
    expect((process.memoryUsage.rss() - before) / MEBIBYTE).toBeLessThan(500);

    await ask("POST", "/workflows/approval/instances/one/events", { type: "approved" });

    await waitUntil("all have seen the end", () =>
      readers.every(({ received }) => received().includes("event: workflow_completed")),
    );
    for (const { socket } of streams) socket.destroy();
    await waitUntil("there is room again", async () => {
      const response = await fetch(`http://127.0.0.1:${port}/workflows/approval/instances/one/subscribe`);
      await response.text();
      return response.status === 200;
    });
    expect(subject.logs.messages("error")).toEqual([]);
  });

  test("bodies that never end, and many that are too large, leave the server serving", async () => {
    const { app, port, ask } = await setUp();
    const head = "POST /workflows/echo/instances HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
    const before = process.memoryUsage.rss();
    for (let index = 0; index < 300; index++) await open(port, `${head}Content-Length: 1000\r\n\r\n{"id":`);
    const chunk = `${"10000".padStart(5)}\r\n${" ".repeat(0x10000)}\r\n`.trimStart();
    const large = await Promise.all(
      Array.from({ length: 40 }, () => open(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(64)}`)),
    );

    await waitUntil("all that are too large are refused", () =>
      large.every(({ received }) => received().includes(" 413 ")),
    );
    const statuses = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask("POST", "/workflows/echo/instances", { id: `i${index}` })),
    );

    expect(new Set(statuses)).toEqual(new Set([201]));
    expect((process.memoryUsage.rss() - before) / MEBIBYTE).toBeLessThan(400);
    expect((await app.workflows.echo.list({ limit: 1000 })).instances).toHaveLength(100);
  });
});
