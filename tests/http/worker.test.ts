import { createHmac } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../support/wait-until.ts";
import { type ReadEvent, readEvents } from "./support/read-events.ts";

const SECRET = "a-secret-that-no-caller-guesses";

/** A token of a tenant's, as the example describes it. */
function tokenOf(tenant: string, secret: string = SECRET): string {
  return `${tenant}.${createHmac("sha256", secret).update(tenant).digest("hex")}`;
}
const INSTANCES = "/workflows/approval/instances";

describe("mounted in a Worker", () => {
  let worker: Miniflare;

  beforeAll(async () => {
    const program = fileURLToPath(new URL("../../examples/http-worker.ts", import.meta.url));
    const { outputFiles } = await build({
      entryPoints: [program],
      bundle: true,
      write: false,
      format: "esm",
      target: "es2024",
      conditions: ["workerd"],
      external: ["node:*", "cloudflare:*", "pg", "better-sqlite3"],
    });
    const options = {
      modules: true as const,
      script: outputFiles[0]?.text as string,
      compatibilityDate: "2026-01-01",
      compatibilityFlags: ["nodejs_compat"],
      bindings: { SECRET },
      durableObjects: { TENANTS: { className: "Tenant", useSQLite: true } },
    };
    worker = new Miniflare(convertV4MiniflareOptions(options));
    await worker.ready;
  });
  afterAll(() => worker?.dispose());

  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await open(method, path, body, headers);
    const text = await response.text();
    return { status: response.status, body: (text === "" ? undefined : JSON.parse(text)) as Record<string, unknown> };
  }

  async function open(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await worker.dispatchFetch(`http://localhost/perdure${path}`, {
      method,
      headers: { authorization: `Bearer ${tokenOf("acme")}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response as unknown as Response;
  }

  test("an application is served, in an object for each tenant", async () => {
    expect((await send("POST", INSTANCES, { id: "one" })).status).toBe(201);
    expect((await send("POST", `${INSTANCES}/one/events`, { type: "approved", payload: "yes" })).status).toBe(204);

    const state = await waitUntil("it is complete", async () => {
      const { body } = await send("GET", `${INSTANCES}/one`);
      return body["status"] === "complete" ? body : null;
    });

    expect(state["output"]).toBe("yes");
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    expect((await send("GET", `${INSTANCES}/one`, undefined, as(tokenOf("other")))).status).toBe(404);
    expect(
      (await send("GET", `${INSTANCES}/one`, undefined, { ...as(tokenOf("other")), "x-tenant": "acme" })).status,
    ).toBe(404);
    expect((await send("GET", `${INSTANCES}/one`, undefined, as(tokenOf("acme", "another secret")))).status).toBe(401);
    expect((await send("GET", "/workflows", undefined, { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await send("POST", INSTANCES, { params: "x".repeat(5_000_000) })).status).toBe(413);
    expect((await send("GET", "/openapi.json")).body["openapi"]).toBe("3.1.0");
  });

  test("events are streamed as they happen", async () => {
    await send("POST", INSTANCES, { id: "two" });
    const events: ReadEvent[] = [];

    for await (const event of readEvents(await open("GET", `${INSTANCES}/two/subscribe`))) {
      events.push(event);
      if (event.type === "step_completed") await send("POST", `${INSTANCES}/two/events`, { type: "approved" });
    }

    expect(events.at(-1)?.type).toBe("workflow_completed");
  });
});
