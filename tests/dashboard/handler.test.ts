import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDashboard, type DashboardOptions } from "../../src/dashboard/index.ts";
import { type Application, defineWorkflow, perdure, type WorkflowEvent } from "../../src/index.ts";

const order = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<{ secret: string }>, step) => {
  await step.do("charge", async () => ({ card: "4242" }));
  return event.payload;
});

let app: Application<Record<never, never>, { order: typeof order }>;

beforeAll(async () => {
  app = await perdure({ database: ":memory:", workflows: { order } });
  const instance = await app.workflows.order.create({ id: "one", params: { secret: "s3cret" } });
  await instance.result();
});

afterAll(() => app.stop({ deadlineMs: 0 }));

const allow = () => true;

function ask(path: string, options: Partial<DashboardOptions> = {}, init: RequestInit = {}): Promise<Response> {
  const dashboard = createDashboard(app, { basePath: "/ops", authorize: allow, ...options });
  return dashboard(new Request(`http://app.test${path}`, init));
}

const OWN = { "content-type": "application/json", "perdure-dashboard": "1", "sec-fetch-site": "same-origin" };
const pause = (headers: Record<string, string>) => ({ method: "POST", headers, body: "{}" });
const PAUSE = "/ops/api/workflows/order/instances/one/restart";

describe("the dashboard's handler", () => {
  test("answers every view with the page, whose files are below the base path", async () => {
    for (const path of ["/ops/", "/ops/workflows", "/ops/workflows/order/instances/a%2Fb?run=2"]) {
      const html = await (await ask(path)).text();
      expect(html).toContain('<meta name="perdure-base" content="/ops">');
      const urls = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = ""]) => url);
      expect(urls.length).toBeGreaterThan(2);
      for (const url of urls) {
        expect(url).toMatch(/^\/ops\/assets\//);
        expect((await ask(url)).status).toBe(200);
      }
    }
  });

  test("sends a browser that leaves out the last slash to the page", async () => {
    const { status, headers } = await ask("/ops");
    expect([status, headers.get("location")]).toEqual([308, "/ops/"]);
  });

  test.each(["/ops/", "/ops/session", "/ops/assets/icon.svg", "/ops/api/stats", "/ops/nothing"])(
    "answers %s only to callers that are authorized",
    async (path) => {
      expect((await ask(path, { authorize: () => false })).status).toBe(403);
      expect((await ask(path, { authorize: () => "unauthenticated" })).status).toBe(401);
      expect((await ask(path, { authorize: { manage: allow } })).status).toBe(403);
      const onError = () => {};
      const broken = () => {
        throw new Error("no database of users");
      };
      expect((await ask(path, { authorize: broken, onError })).status).toBe(500);
    },
  );

  test("allows no inline script, no other host and no frame", async () => {
    for (const path of ["/ops/", "/ops/api/stats", "/ops/assets/icon.svg", "/elsewhere"]) {
      const policy = (await ask(path)).headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
    }
    expect(await (await ask("/ops/")).text()).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  });

  test("changes nothing unless actions are allowed", async () => {
    expect((await ask(PAUSE, {}, pause(OWN))).status).toBe(403);
    expect((await ask(PAUSE, { actions: true }, pause(OWN))).status).toBe(204);
  });

  test.each([
    ["without the dashboard's header", { "content-type": "application/json" }],
    ["of another site", { ...OWN, "sec-fetch-site": "cross-site" }],
    ["of another origin of the same site", { ...OWN, "sec-fetch-site": "same-site" }],
  ])("refuses a change %s", async (_, headers) => {
    const response = await ask(PAUSE, { actions: true }, pause(headers));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: "dashboard.cross_site" });
  });

  test("lets no token be completed without authorization", async () => {
    const options = { actions: true, authorize: { read: allow } };
    expect((await ask("/ops/api/tokens/abc", options, pause(OWN))).status).toBe(403);
  });

  test("shows users' values only to callers that may see payloads", async () => {
    const path = "/ops/api/workflows/order/instances/one";
    await (await app.workflows.order.get("one")).result();
    expect(await (await ask(path)).text()).not.toContain("s3cret");
    expect(await (await ask(path, { payloads: true })).text()).toContain("s3cret");
    const admin = ({ request }: { request: Request }) => request.headers.get("role") === "admin";
    expect(await (await ask(path, { payloads: admin })).text()).not.toContain("s3cret");
    expect(await (await ask(path, { payloads: admin }, { headers: { role: "admin" } })).text()).toContain("s3cret");
    const history = await (await ask(`${path}/history`)).text();
    expect(history).toContain("charge");
    expect(history).not.toContain("4242");
  });

  test("tells the page what its caller may do", async () => {
    expect(await (await ask("/ops/session")).json()).toMatchObject({ operations: ["read"], payloads: false });
    const some = { actions: true, authorize: { read: allow, manage: allow, create: () => false }, payloads: true };
    expect(await (await ask("/ops/session", some)).json()).toMatchObject({
      operations: ["read", "manage"],
      payloads: true,
    });
    for (const hidden of [{ redact: true }, { authorize: () => ({ allow: true, payloads: false }) }]) {
      expect(await (await ask("/ops/session", { payloads: true, ...hidden })).json()).toMatchObject({
        payloads: false,
      });
    }
  });

  test("compresses its files for browsers that ask for it", async () => {
    const html = await (await ask("/ops/")).text();
    const [, script = ""] = /src="([^"]+)"/.exec(html) ?? [];
    const plain = await ask(script);
    const packed = await ask(script, {}, { headers: { "accept-encoding": "br, gzip" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    const unpacked = packed.body?.pipeThrough(new DecompressionStream("gzip")) ?? null;
    expect(await new Response(unpacked).text()).toBe(await plain.text());
  });

  test.each([
    [{ authorize: undefined }, "createDashboard needs authorize"],
    [{ actions: "yes" }, "actions must be true or false"],
    [{ payloads: 1 }, "payloads must be"],
    [{ basePath: "ops" }, "basePath must be a path"],
    [{ timeoutMs: 0 }, "timeoutMs must be"],
    [{ readonly: true }, 'has no option "readonly"'],
  ])("refuses the options %j", (options, message) => {
    const all = { authorize: allow, ...options } as unknown as DashboardOptions;
    expect(() => createDashboard(app, all)).toThrow(message);
  });
});
