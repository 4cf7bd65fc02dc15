import { describe, expect, test } from "vitest";
import { decodeValue, encodeValue } from "../../src/values/index.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { breaks, workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const RICH = {
  when: new Date("2026-01-31T12:00:00Z"),
  rates: new Map<unknown, unknown>([
    ["a", 1n],
    [new Date(0), new Set([1, "two"])],
  ]),
  pattern: /a+/gi,
  bytes: new Uint8Array([0, 1, 255]),
  nothing: undefined,
  negative: -0,
  missing: Number.NaN,
  text: "\0 and \ud800",
  own: { $perdure: "mine" },
};

describe.each(ENGINES)("values over HTTP on $name", (engine) => {
  const subject = useHttp(engine);

  async function setUp() {
    const typeOf = defineWorkflow({ name: "typeOf" }, async ({ payload }: { payload: unknown }) =>
      Object.prototype.toString.call((payload as { when: unknown }).when),
    );
    const app = await subject.start({ workflows: { ...workflows, typeOf }, hooks: { breaks } });
    return { app, client: subject.serve(app) };
  }

  test("are plain JSON where they are", async () => {
    const { client } = await setUp();
    const params = { list: [1, null, "two", { deep: true }], empty: {}, text: "é\u2028" };
    await client.post("/workflows/echo/instances", { id: "one", params });
    expect((await client.becomes("/workflows/echo/instances/one", "complete"))["output"]).toEqual(params);
  });

  test("come back as they were sent, in the form that they are stored in", async () => {
    const { client } = await setUp();
    const wire: unknown = JSON.parse(encodeValue(RICH));
    await client.post("/workflows/echo/instances", { id: "one", params: wire });
    await client.post("/workflows/typeOf/instances", { id: "one", params: wire });

    const { output } = await client.becomes("/workflows/echo/instances/one", "complete");

    expect(output).toEqual(wire);
    expect(decodeValue(JSON.stringify(output))).toEqual(RICH);
    expect((await client.becomes("/workflows/typeOf/instances/one", "complete"))["output"]).toBe("[object Date]");
    const history = await client.get<{ entries: { output?: unknown }[] }>("/workflows/echo/instances/one/history");
    expect(history.body.entries.map(({ output }) => output)).toContainEqual(wire);
  });

  test("that are undefined are left out", async () => {
    const { client } = await setUp();
    await client.post("/workflows/echo/instances", { id: "one" });
    expect(await client.becomes("/workflows/echo/instances/one", "complete")).not.toHaveProperty("output");
  });

  test.each([
    ["an unknown kind", { $perdure: "Function", value: "alert(1)" }],
    ["a kind of a prototype", { $perdure: "__proto__" }],
    ["a field too many", { $perdure: "Date", value: "2026-01-31T12:00:00Z", x: 1 }],
    ["a pattern that can't be", { $perdure: "RegExp", source: "(", flags: "" }],
    ["a million digits", { deep: [{ $perdure: "bigint", value: "9".repeat(1_000_000) }] }],
    ["a stream of some step", { deep: { $perdure: "stream", id: "1", kind: "bytes", bytes: 1, chunks: 1 } }],
    ["billions of holes", { deep: [{ $perdure: "array", length: 4_000_000_000, value: {} }] }],
  ])("with %s are refused", async (_, params) => {
    const { client } = await setUp();
    const { status, body } = await client.post("/workflows/echo/instances", { id: "one", params });
    expect([status, body["code"]]).toEqual([400, "http.invalid_request"]);
    expect((await client.get("/workflows/echo/instances/one")).status).toBe(404);
  });

  test("can't change a prototype", async () => {
    const { client } = await setUp();
    const body = '{"id":"one","params":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
    expect((await client.post("/workflows/echo/instances", undefined, { body })).status).toBe(201);
    await client.becomes("/workflows/echo/instances/one", "complete");
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("are hidden from every caller where the application says so", async () => {
    const { app } = await setUp();
    const client = subject.serve(app, { redact: true });
    await client.post("/workflows/approval/instances", { id: "one", params: "secret" });
    await client.post("/workflows/approval/instances/one/events", { type: "approved", payload: "secret" });
    await client.post("/workflows/failing/instances", { id: "one", params: "secret" });
    await app.hooks.breaks.trigger({ text: "secret" });

    const complete = await client.becomes("/workflows/approval/instances/one", "complete");
    const errored = await client.becomes("/workflows/failing/instances/one", "errored");
    const history = await client.get("/workflows/approval/instances/one/history");
    const list = await client.get("/workflows/approval/instances");
    const hooks = await waitUntil("the hook has failed", async () => {
      const { body } = await client.get<{ hooks: unknown[] }>("/hooks?status=failed");
      return body.hooks.length > 0 ? body : null;
    });

    expect(complete["output"]).toBe("[REDACTED]");
    expect(errored["error"]).toEqual({ name: "TypeError", message: "[REDACTED]" });
    const all = JSON.stringify([complete, errored, history.body, list.body, hooks]);
    expect(all).not.toContain("secret");
    expect(all).toContain('"payload":"[REDACTED]"');
  });

  test("of errors have no stack, unless stack traces are shown, redacted as messages are", async () => {
    const { app } = await setUp();
    const [shy, open, hidden] = [{}, { stackTraces: true }, { stackTraces: true, redact: true }].map((options) =>
      subject.serve(app, options),
    ) as [Client, Client, Client];
    await shy.post("/workflows/failing/instances", { id: "one", params: "secret" });
    const errored = await shy.becomes("/workflows/failing/instances/one", "errored");
    expect(errored["error"]).not.toHaveProperty("stack");
    const shown = await open.get<{ error: object }>("/workflows/failing/instances/one");
    expect(shown.body.error).toMatchObject({ name: "TypeError", stack: expect.stringContaining("TypeError") });
    const redacted = await hidden.get<{ error: object }>("/workflows/failing/instances/one");
    expect(redacted.body.error).toMatchObject({ message: "[REDACTED]", stack: "[REDACTED]" });
  });

  test("are shown as a function says, which knows what they are of", async () => {
    const { app } = await setUp();
    const client = subject.serve(app, {
      redact: (value, { field, resource }) => ({ value, field, kind: resource.kind }),
    });
    await client.post("/workflows/echo/instances", { id: "one", params: "x" });
    const { output } = await client.becomes("/workflows/echo/instances/one", "complete");
    expect(output).toEqual({ value: "x", field: "output", kind: "instance" });
  });

  test("that the application's own function can't present are reported as its error", async () => {
    const { app } = await setUp();
    await (await app.workflows.echo.create({ id: "one", params: "secret" })).result();
    const told: unknown[] = [];
    const client = subject.serve(app, { redact: async () => "hidden", onError: (error) => told.push(error) });
    const { status, body } = await client.get("/workflows/echo/instances/one");

    expect([status, body["code"]]).toEqual([500, "http.internal"]);
    expect(told).toMatchObject([{ message: expect.stringContaining("redact") }]);
  });

  test("stay out of the log, and so do messages", async () => {
    const { app } = await setUp();
    const client = subject.serve(app, {
      redact: () => {
        throw new Error("secret");
      },
    });
    await client.post("/workflows/echo/instances", { id: "one", params: "secret" });
    await waitUntil("it is complete", async () => (await client.get("/workflows/echo/instances/one")).status === 500);
    expect(JSON.stringify(subject.logs.lines)).not.toContain("secret");
    expect(subject.logs.messages("error")).toContain("A request could not be answered.");
  });
});
