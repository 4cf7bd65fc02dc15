import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const hooks = {
  fine: defineHook({}, async (_payload: { text: string }) => {}),
  broken: defineHook({ retries: { limit: 0 } }, async (payload: { text: string }) => {
    throw new Error(payload.text);
  }),
};
const ODD_NAME = 'the "odd" one\\\n';
const workflows = {
  quick: defineWorkflow({ name: "quick" }, async (_event, step) => step.do("step", () => 1)),
};

function clientOf({ handler }: Client) {
  return createClient({ baseUrl: "http://localhost", fetch: (request) => handler(request as Request) });
}

async function read({ handler }: Client, accept?: string) {
  const headers = accept === undefined ? {} : { accept };
  const response = await handler(new Request("http://localhost/metrics", { headers }));
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

describe.each(ENGINES)("metrics over HTTP on $name", (engine) => {
  const subject = useHttp(engine);
  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function setUp() {
    const app = await subject.start({ workflows, hooks });
    await app.hooks.fine.trigger({ text: "secret" });
    await app.hooks.broken.trigger({ text: "secret" });
    await (await app.workflows.quick.create({ id: "secret" })).result();
    await waitUntil("the hooks have ended", async () => {
      const { hooks: metered } = await app.metrics();
      return metered["fine"]?.completed === 1 && metered["broken"]?.failed === 1;
    });
    return { app, http: subject.serve(app) };
  }

  test("are the same in process, over HTTP and in the client, and name no value and no id", async () => {
    const { app, http } = await setUp();
    await waitUntil("the gauges are those of now", async () => (await app.metrics()).queue?.deadLetters === 1);

    const metrics = await app.metrics();
    expect(metrics.hooks["fine"]).toMatchObject({ started: 1, completed: 1, retried: 0, failed: 0, running: 0 });
    expect(metrics.hooks["broken"]).toMatchObject({ started: 1, failed: 1 });
    expect(metrics.queue).toMatchObject({ deadLetters: 1, workers: { alive: 1, dead: 0 } });
    const overClient = await clientOf(http).metrics();
    expect(Object.keys(overClient).sort()).toEqual(Object.keys(metrics).sort());
    expect({ ...overClient, claims: null, queue: null }).toEqual({ ...metrics, claims: null, queue: null });
    expect(overClient.queue?.at).toBeInstanceOf(Date);
    expect((await read(http)).text).not.toContain("secret");
    expect(JSON.stringify(overClient)).not.toContain("secret");
  });

  test("tell what happened in each of the last minutes", async () => {
    const { app, http } = await setUp();
    const report = await app.activity({ minutes: 180 });

    const sum = (field: Exclude<keyof (typeof report.minutes)[number], "at">) =>
      report.minutes.reduce((total, minute) => total + minute[field], 0);
    expect([sum("hooksStarted"), sum("hooksCompleted"), sum("hooksFailed")]).toEqual([2, 1, 1]);
    expect([sum("instancesStarted"), sum("instancesCompleted")]).toEqual([1, 1]);
    const overClient = await clientOf(http).activity({ minutes: 180 });
    expect(overClient.since).toEqual(report.since);
    expect(overClient.minutes.slice(0, report.minutes.length)).toEqual(report.minutes);
    expect(await http.get("/activity?minutes=181")).toMatchObject({ status: 400 });
    for (const minutes of [0, 181, 1.5]) {
      await expect(app.activity({ minutes })).rejects.toMatchObject({ code: "options.invalid" });
      await expect(clientOf(http).activity({ minutes })).rejects.toMatchObject({ code: "options.invalid" });
    }
  });

  test("are answered while the database can't be used", async () => {
    const app = await subject.start({ hooks, worker: false });
    const http = subject.serve(app);
    vi.spyOn(app.parts.store.engine.backlog, "read").mockRejectedValue(new Error("secret-host"));

    const { status, text } = await read(http);
    expect(status).toBe(200);
    expect(text).toMatch(/^perdure_database_up\{[^}]*\} 0$/m);
    expect(text).not.toMatch(/secret-host|^perdure_backlog\{/m);
    expect(await clientOf(http).metrics()).toMatchObject({ queue: null });
  });
});

/** What doesn't depend on the engine. */
describe("metrics", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);

  async function serve() {
    const app = await subject.start({ workflows, hooks });
    await (await app.workflows.quick.create()).result();
    return { app, http: subject.serve(app) };
  }

  test("are answered as the caller accepts them: as Prometheus' text unless it says otherwise", async () => {
    const { http } = await serve();
    const prometheus =
      "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;q=0.3,*/*;q=0.1";
    const types = [undefined, "*/*", "text/*", "image/png", prometheus, "application/json", "text/plain;q=0, */*"];

    const answers = await Promise.all(types.map((accept) => read(http, accept)));

    const TEXT = "text/plain; version=0.0.4; charset=utf-8";
    const OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    expect(answers.map(({ type }) => type)).toEqual([TEXT, TEXT, TEXT, TEXT, OPEN, "application/json", OPEN]);
  });

  test("are well-formed text in both formats, whatever a hook is called", async () => {
    const { app, http } = await serve();
    app.parts.store.meter.of(app.parts.namespace).hooks.of(ODD_NAME).begin(1);
    const [plain, open] = await Promise.all(
      ["text/plain", "application/openmetrics-text"].map((type) => read(http, type)),
    );

    expect(plain?.text).toContain('hook="the \\"odd\\" one\\\\\\n"');
    expect(open?.text.endsWith("\n# EOF\n")).toBe(true);
    expect(plain?.text).not.toContain("# EOF");
    for (const text of [plain?.text ?? "", open?.text ?? ""]) expectWellFormed(text);
    expect(plain?.text).toContain("# TYPE perdure_instances_started_total counter");
    expect(open?.text).toContain("# TYPE perdure_instances_started counter");
  });

  test("need the permission to read the application", async () => {
    const { app } = await serve();
    const denied = subject.serve(app, { authorize: { create: () => true } });

    expect(await denied.get("/metrics")).toMatchObject({ status: 403 });
    expect(await denied.get("/activity")).toMatchObject({ status: 403 });
  });
});

const LABELS = String.raw`\{\w+="(?:[^"\\\n]|\\["\\n])*"(?:,\w+="(?:[^"\\\n]|\\["\\n])*")*\}`;
const SAMPLE = new RegExp(String.raw`^(\w+)(${LABELS}) (\d+(?:\.\d+)?(?:e-?\d+)?)$`);

/** Each sample follows the heading of its family, and the buckets of a histogram rise to its count. */
function expectWellFormed(text: string): void {
  let family = "";
  let bucket = 0;
  for (const line of text.trimEnd().split("\n")) {
    if (line === "# EOF") continue;
    const [, declared] = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line) ?? [];
    if (declared !== undefined) family = declared.replace(/_total$/, "");
    if (line.startsWith("# ")) continue;
    const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
    expect(name.replace(/_(total|bucket|sum|count)$/, ""), line).toBe(family);
    if (name.endsWith("_count")) expect(Number(value), line).toBe(bucket);
    if (!name.endsWith("_bucket")) continue;
    bucket = /le="0\.001"|le="0\.01"|le="1\.0"/.test(labels) && Number(value) < bucket ? 0 : bucket;
    expect(Number(value), line).toBeGreaterThanOrEqual(bucket);
    bucket = Number(value);
  }
}
