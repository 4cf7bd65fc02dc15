import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createContext, runInContext } from "node:vm";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/index.ts";
import { toNodeHandler } from "../../src/http/node.ts";
import { type Application, defineWorkflow, perdure } from "../../src/index.ts";
import { bundle } from "./support/bundle.ts";

/** The same use of the client wherever it runs: gives the types of the events, and the result. */
const PROGRAM = `
import { createClient } from "./src/client/index.ts";
export async function use(baseUrl) {
  const client = createClient({ baseUrl });
  const order = await client.workflows.approval.create({ params: { at: new Date(5) } });
  const types = [];
  for await (const event of await order.subscribe({ filter: ["wait_started", "workflow_completed"] })) {
    types.push(event.type);
    if (event.type === "wait_started") await order.sendEvent({ type: "approved", payload: 12n });
  }
  const { at, total } = await order.result({ timeout: "1 minute" });
  return JSON.stringify({ types, at: at.getTime(), total: String(total) });
}
`;

/** What every browser has. */
const BROWSER = [
  "AbortController",
  "AbortSignal",
  "DOMException",
  "Headers",
  "ReadableStream",
  "Request",
  "Response",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "URLSearchParams",
  "atob",
  "btoa",
  "clearTimeout",
  "crypto",
  "fetch",
  "performance",
  "setTimeout",
] as const;

describe("the client, against a server in Node", () => {
  const approval = defineWorkflow({ name: "approval" }, async (event, step) => {
    const { payload } = await step.waitForEvent<bigint>("answer", { type: "approved" });
    return { ...(event.payload as unknown as object), total: payload };
  });
  let app: Application<Record<never, never>, { approval: typeof approval }>;
  let server: Server;
  let baseUrl: string;

  beforeAll(async () => {
    app = await perdure({ database: ":memory:", workflows: { approval } });
    server = createServer(toNodeHandler(createHttpHandler(app, { authorize: () => true })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await app.stop();
  });

  const expected = { types: ["wait_started", "workflow_completed"], at: 5, total: "12" };

  test("needs only APIs that every browser has", async () => {
    const context = createContext(Object.fromEntries(BROWSER.map((name) => [name, globalThis[name]])));
    const use = runInContext(`${await bundle(PROGRAM, "iife")}; program.use`, context) as (
      url: string,
    ) => Promise<string>;

    expect(JSON.parse(await use(baseUrl))).toEqual(expected);
  });

  test("runs in a Worker", async () => {
    const worker = `${PROGRAM} export default { fetch: async (request, env) => new Response(await use(env.BASE_URL)) };`;
    const options = { modules: true as const, script: await bundle(worker, "esm"), compatibilityDate: "2026-01-01" };
    const miniflare = new Miniflare(convertV4MiniflareOptions({ ...options, bindings: { BASE_URL: baseUrl } }));
    try {
      expect(await (await miniflare.dispatchFetch("http://worker/")).json()).toEqual(expected);
    } finally {
      await miniflare.dispose();
    }
  });
});
