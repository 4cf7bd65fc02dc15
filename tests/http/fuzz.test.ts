import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { perdure } from "../../src/app/perdure.ts";
import { createHttpHandler, type HttpHandler } from "../../src/http/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { type Document, type Operation, operationsOf, problemOf } from "./support/document.ts";
import { hooks, workflows } from "./support/sample-app.ts";

const RUNS = 400;
/** What breaks things that are put together from texts. */
const NASTY = [
  "'; drop table perdure_instance; --",
  '" or 1=1',
  "$1",
  "?",
  "..",
  ".",
  "%2e%2e",
  "%252f",
  "a/b",
  "\\",
  "\0",
  "\ud800",
  "__proto__",
  "constructor",
  "toString",
  "$perdure",
  "<script>",
  "\r\nset-cookie: a=b",
  "a".repeat(300),
  "ä".repeat(2000),
  "one",
  "echo",
  "",
];

const text = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary", maxLength: 40 }));
const key = fc.oneof(
  fc.constantFrom("id", "params", "type", "payload", "ids", "instances", "revision", "onConflict"),
  text,
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom({ $perdure: "Date", value: "x" }, { $perdure: "array", length: 2 ** 32 - 1, value: {} }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map(toObject),
  ),
}));

/** With `__proto__` as a field of its own, as JSON.parse makes it. */
function toObject(fields: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, field] of fields) {
    Object.defineProperty(object, name, { value: field, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

function jsonOf(body: unknown): string {
  return JSON.stringify(body) ?? "null";
}

describe.each(ENGINES)("whatever is sent on $name", (engine) => {
  let database: TestStore;
  let app: Awaited<ReturnType<typeof start>>;
  let handler: HttpHandler;
  let document: Document;
  let operations: Operation[];
  const logs = new LogBook();

  const start = () => perdure({ database: database.adapter, workflows, hooks, worker: false, logger: logs });

  beforeAll(async () => {
    database = await engine.create();
    app = await start();
    handler = createHttpHandler(app, { authorize: () => true, logger: logs, maxBodyBytes: 20_000, tick: true });
    document = (await (await handler(new Request("http://localhost/openapi.json"))).json()) as Document;
    operations = operationsOf(document);
  });
  afterAll(async () => {
    await app.stop();
    await database.dispose();
  });

  async function everything(): Promise<unknown> {
    const get = async (path: string) => (await handler(new Request(`http://localhost${path}`))).json();
    const names = Object.values(workflows).map(({ name }) => name);
    return Promise.all(
      [...names.map((name) => `/workflows/${name}/instances?limit=1000`), "/hooks", "/subjects/one"].map(get),
    );
  }

  test("to a route is answered as the OpenAPI document says, and never with a 500", async () => {
    const index = fc.nat();
    const parameters = fc.array(text, { minLength: 2, maxLength: 2 });
    const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom("limit", "cursor", "status", "order"), text), text), {
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(index, parameters, query, value, async (chosen, names, fields, body) => {
        const operation = operations[chosen % operations.length] as Operation;
        const { method } = operation;
        let place = 0;
        const path = operation.path.replaceAll(
          /\{\w+\}/g,
          () => encodeURIComponent((names[place++] as string).toWellFormed()) || "x",
        );
        const url = new URL(`http://localhost${path}`);
        for (const [name, field] of fields) url.searchParams.append(name, field);
        const init = method === "POST" ? { body: jsonOf(body), headers: { "content-type": "application/json" } } : {};
        const response = await handler(new Request(url, { method, ...init }));
        const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
        const answer = isStream ? "" : await response.text();
        if (isStream) await response.body?.cancel();

        // A path of dots, or a very long one, is that of another route, or of none.
        const elsewhere = [404, 405, 414].includes(response.status) || url.pathname !== path;
        expect(elsewhere ? null : problemOf(document, operation, response, answer)).toBeNull();
        expect(response.status).toBeLessThan(500);
        expect(response.headers.has("set-cookie")).toBe(false);
      }),
      { numRuns: RUNS },
    );
    expect(logs.messages("error")).toEqual([]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test("that isn't a request at all is refused, and nothing is stored", async () => {
    const before = await everything();
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      text.map((one) => new TextEncoder().encode(one)),
      value.map((one) => new TextEncoder().encode(jsonOf(one).slice(0, -1))),
      value.map((one) => new TextEncoder().encode(jsonOf({ nonsense: one }))),
    );
    const posts = operations.filter(({ method, operationId }) => method === "POST" && operationId !== "tick");
    await fc.assert(
      fc.asyncProperty(fc.nat(), garbage, async (chosen, bytes) => {
        if (bytes.length === 0) return;
        const { path } = posts[chosen % posts.length] as Operation;
        const url = `http://localhost${path.replace("{workflowName}", "echo").replaceAll(/\{\w+\}/g, "one")}`;
        const body = new Uint8Array(bytes);
        const response = await handler(
          new Request(url, { method: "POST", body, headers: { "content-type": "application/json" } }),
        );
        expect([400, 404]).toContain(response.status);
        expect(((await response.json()) as { code: string }).code).toMatch(/^[a-z]+\.[a-z_]+$/);
      }),
      { numRuns: RUNS },
    );
    expect(await everything()).toEqual(before);
  });
});
