import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bearerToken, createHttpHandler, type HttpHandlerOptions } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node.ts";
import { type Application, defineWorkflow, perdure } from "../../src/index.ts";
import { waitUntil } from "../support/wait-until.ts";
import { bundle } from "./support/bundle.ts";
import type * as PageProgram from "./support/page-program.ts";
import { HAS_BROWSER, useBrowser } from "./support/use-browser.ts";

const TOKEN = "a-token-that-nobody-guesses";
const PAGE = '<!doctype html><title>page</title><script src="/program.js"></script>';

const approval = defineWorkflow({ name: "approval" }, async (event, step) => {
  await step.do("ask", async () => "asked");
  const { payload } = await step.waitForEvent("answer", { type: "approved" });
  return { ...(event.payload as object | undefined), payload };
});

type Program = typeof PageProgram;
type Functions = {
  [Name in keyof Program as Program[Name] extends (...args: never[]) => unknown ? Name : never]: Name;
};

describe.skipIf(!HAS_BROWSER)("the client in Chromium", () => {
  const browser = useBrowser();
  const servers: Server[] = [];
  let app: Application<Record<never, never>, { approval: typeof approval }>;
  let program: string;
  let page: Page;

  beforeAll(async () => {
    app = await perdure({ database: ":memory:", workflows: { approval } });
    program = await bundle('export * from "./tests/client/support/page-program.ts";', "iife");
  });

  beforeEach(async () => {
    page = await browser().newPage();
    return () => page.close();
  });

  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    await app.stop({ deadlineMs: 0 });
  });

  /** The page and the API, of one origin. */
  async function serve(options: Partial<HttpHandlerOptions> = {}) {
    const handle = toNodeHandler(
      createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(TOKEN), ...options }),
    );
    const streams: ServerResponse[] = [];
    const server = createServer((request, response) => {
      if (request.url === "/") response.setHeader("content-type", "text/html").end(PAGE);
      else if (request.url === "/program.js") response.setHeader("content-type", "text/javascript").end(program);
      else if (request.url?.startsWith("/moved/")) {
        response.writeHead(301, { location: request.url.replace("/moved", "/perdure") }).end();
      } else {
        if (request.url?.includes("/subscribe")) streams.push(response);
        void handle(request, response);
      }
    });
    servers.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { origin, streams, at: { baseUrl: `${origin}/perdure`, token: TOKEN } };
  }

  /** Calls a function of the page. */
  function call<Name extends keyof Functions>(
    name: Name,
    ...args: Parameters<Program[Name]>
  ): Promise<Awaited<ReturnType<Program[Name]>>> {
    return page.evaluate(`program.${name}(...${JSON.stringify(args)})`);
  }

  test("creates, sends and waits, and returns values unchanged", async () => {
    const { origin, at } = await serve();
    await page.goto(origin);

    expect(await call("approve", at, "here")).toEqual({
      status: "complete",
      at: "1970-01-01T00:00:00.005Z",
      total: "12",
    });
  });

  test("needs no API that browsers reserve for HTTPS pages", async () => {
    const { origin } = await serve();
    const url = origin.replace("127.0.0.1", "page.test");
    await page.goto(url);

    expect(await call("isSecure")).toBe(false);
    const at = { baseUrl: `${url}/perdure`, token: TOKEN };
    expect(await call("approve", at, "insecure")).toMatchObject({ status: "complete", total: "12" });
  });

  test("follows an instance, and continues at its cursor when the server cuts the stream", async () => {
    const { origin, at, streams } = await serve();
    await page.goto(origin);
    const instance = await app.workflows.approval.create({ id: "followed" });
    const following = call("follow", at, "followed");
    await waitUntil("it has seen that the instance waits", async () => (await call("told")).includes("wait_started"));

    streams[0]?.destroy();
    await waitUntil("it has come back", () => streams.length === 2);
    await instance.sendEvent({ type: "approved" });

    const events: { eventId: number; type: string }[] = [];
    const types = ["step_completed", "wait_started", "wait_completed", "workflow_completed"] as const;
    for await (const { eventId, type } of await instance.subscribe({ filter: types })) events.push({ eventId, type });
    expect(events.map(({ type }) => type)).toEqual(types);
    expect(await following).toEqual(events);
  });

  test("reports a refused token", async () => {
    const { origin, at } = await serve();
    await page.goto(origin);
    expect(await call("refusal", { ...at, token: "another-token-entirely" }, "never")).toBe(
      "PerdureError http.unauthenticated",
    );
  });

  test("follows no redirect, which would turn a POST into a GET", async () => {
    const { origin, at } = await serve();
    await page.goto(origin);
    expect(await call("refusal", { ...at, baseUrl: `${origin}/moved` }, "never")).toBe(
      "PerdureError client.unexpected_answer",
    );
    await expect(app.workflows.approval.get("never")).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("of a page of an allowed origin is served, and of another origin gets an error that says why", async () => {
    const { origin } = await serve();
    const { at } = await serve({ cors: { origins: [origin] } });
    await page.goto(origin);

    expect(await call("approve", at, "elsewhere")).toMatchObject({ status: "complete", total: "12" });
    expect(await call("refusal", at, "elsewhere")).toBe("ConflictError instance.already_exists");
    expect(await call("refusal", at, "not valid!")).toBe("InvalidInputError id.invalid");
    expect(await call("refusal", { ...at, token: "another-token-entirely" }, "never")).toBe(
      "PerdureError http.unauthenticated",
    );
  });

  test.each([
    ["ownerless", {}],
    ["another site", { cors: { origins: ["https://example.org"] } }],
  ])("of a page of another origin changes nothing on a server that is %s", async (_, options) => {
    const { origin } = await serve();
    const { at } = await serve({ authorize: () => true, ...options });
    await page.goto(origin);

    expect(await call("refusal", { ...at, retries: 0 }, "foreign")).toBe("PerdureError client.unreachable");
    const url = `${at.baseUrl}/workflows/approval/instances`;
    expect(await call("sendUnasked", url, '{"id":"foreign"}')).toBe("opaque");
    await expect(app.workflows.approval.get("foreign")).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("isn't needed to follow an instance to its end: an EventSource reconnects once, and then learns that the stream is over", async () => {
    const { origin, streams } = await serve({ authorize: () => true });
    await page.goto(origin);
    const instance = await app.workflows.approval.create({ id: "sourced" });
    await instance.sendEvent({ type: "approved" });

    const read = await call("readSource", `${origin}/perdure/workflows/approval/instances/sourced/subscribe`);

    expect(read).toEqual({
      types: ["step_completed", "wait_started", "wait_completed", "workflow_completed"],
      closed: true,
    });
    expect(streams.map(({ statusCode }) => statusCode)).toEqual([200, 204]);
  });
});
