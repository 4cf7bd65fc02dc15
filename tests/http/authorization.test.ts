import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuthorizationQuestion } from "../../src/http/index.ts";
import { bearerToken, createHttpHandler } from "../../src/http/index.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const TOKEN = "a-token-that-nobody-guesses";

describe("authorization", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);
  let client: (options: Parameters<typeof subject.serve>[1]) => Client;

  beforeAll(async () => {
    const app = await subject.start({ workflows, hooks, worker: false });
    client = (options) => subject.serve(app, options);
  });
  afterAll(() => subject.end());

  test("is needed to make a handler at all", async () => {
    const app = await subject.start({ workflows, worker: false });
    const options = (authorize: unknown) => ({ authorize }) as never;

    for (const authorize of [undefined, null, true, "yes", { read: true }, { reed: () => true }]) {
      expect(() => createHttpHandler(app, options(authorize))).toThrow(
        expect.objectContaining({ code: "options.invalid" }),
      );
    }
    expect(() =>
      createHttpHandler(
        {} as never,
        options(() => true),
      ),
    ).toThrow(/application/);
  });

  test("is asked with the operation and the resource, before anything else is looked at", async () => {
    const questions: AuthorizationQuestion[] = [];
    const all = client({
      tick: true,
      authorize: (question) => {
        questions.push(question);
        return false;
      },
    });
    const asked: [method: string, path: string][] = [
      ["GET", "/workflows"],
      ["GET", "/workflows/echo/instances?bad=query"],
      ["POST", "/workflows/echo/instances"],
      ["POST", "/workflows/echo/instances/batch"],
      ["GET", "/workflows/echo/instances/one%2Ftwo"],
      ["DELETE", "/workflows/echo/instances/one"],
      ["POST", "/workflows/nowhere/instances/one/pause"],
      ["POST", "/workflows/echo/instances/one/events"],
      ["GET", "/hooks/h"],
      ["POST", "/hooks/redrive"],
      ["POST", "/subjects/d/s/release"],
      ["POST", "/_runner/tick"],
      ["GET", "/openapi.json"],
    ];

    const replies = await Promise.all(asked.map(([method, path]) => all.send(method, path, {})));

    expect(replies.map(({ status, body }) => [status, body["code"]])).toEqual(asked.map(() => [403, "http.forbidden"]));
    const instance = (instanceId: string, workflowName = "echo") => ({ kind: "instance", workflowName, instanceId });
    const echo = { kind: "workflow", workflowName: "echo" };
    expect(questions.map(({ operation, resource }) => [operation, resource])).toEqual([
      ["read", { kind: "application" }],
      ["read", echo],
      ["create", echo],
      ["create", echo],
      ["read", instance("one/two")],
      ["manage", instance("one")],
      ["manage", instance("one", "nowhere")],
      ["events", instance("one")],
      ["read", { kind: "hook", hookId: "h" }],
      ["operate", { kind: "hooks" }],
      ["operate", { kind: "subject", dispatcherId: "d", subjectKey: "s" }],
      ["tick", { kind: "application" }],
      ["read", { kind: "application" }],
    ]);
    expect(questions[0]?.request.url).toBe("http://localhost/workflows");
  });

  test("may have a policy for each operation; what has none is denied", async () => {
    const reader = client({ authorize: { read: () => true, create: () => "unauthenticated" } });

    expect((await reader.get("/workflows")).status).toBe(200);
    const create = await reader.post("/workflows/echo/instances", {});
    expect([create.status, create.body["code"]]).toEqual([401, "http.unauthenticated"]);
    expect(create.headers.get("www-authenticate")).toBe("Bearer");
    expect((await reader.post("/hooks/redrive", { ids: ["a"] })).status).toBe(403);
  });

  test.each([undefined, null, 1, "true", {}, Response.json({})])(
    "is denied by an answer such as %o",
    async (answer) => {
      expect((await client({ authorize: () => answer as never }).get("/workflows")).status).toBe(403);
    },
  );

  test("that throws denies, and says nothing of why to the caller or in the log", async () => {
    const broken = client({
      authorize: () => {
        throw new Error(`the secret ${TOKEN} is wrong`);
      },
    });

    const { status, body } = await broken.post("/workflows/echo/instances", { id: "never" });

    expect([status, Object.keys(body), body["code"]]).toEqual([500, ["code", "message"], "http.internal"]);
    expect(JSON.stringify([body, subject.logs.lines])).not.toContain(TOKEN);
    expect(subject.logs.lines.at(-1)).toMatchObject({
      level: "error",
      details: { route: "createInstance", name: "Error" },
    });
    expect((await client({}).get("/workflows/echo/instances/never")).status).toBe(404);
  });

  test("that throws is reported to onError, which may throw as well", async () => {
    const told: unknown[] = [];
    const broken = client({
      authorize: () => Promise.reject(new Error("no")),
      onError: (error, context) => {
        told.push([(error as Error).message, context.route, context.operation]);
        throw new Error("neither");
      },
    });

    expect((await broken.get("/workflows")).status).toBe(500);
    expect(told).toEqual([["no", "listWorkflows", "read"]]);
  });

  test("that throws is reported to an onError that fails later, and that is logged", async () => {
    const broken = client({
      authorize: () => Promise.reject(new Error("no")),
      onError: async () => {
        throw new RangeError("neither");
      },
    });

    expect((await broken.get("/workflows")).status).toBe(500);
    await waitUntil("it is in the log", () => subject.logs.lines.at(-1)?.details?.["name"] === "RangeError");
  });

  test("that reads the body of a request is a mistake, and changes nothing", async () => {
    const greedy = client({
      authorize: async ({ request }) => {
        await request.text();
        return true;
      },
    });

    expect((await greedy.post("/workflows/echo/instances", { id: "never" })).status).toBe(500);
    expect((await client({}).get("/workflows/echo/instances/never")).status).toBe(404);
  });

  test("by tokens admits requests with one of them", async () => {
    const guarded = client({ authorize: bearerToken([TOKEN, `${TOKEN}-new`]) });
    const ask = async (authorization?: string) => {
      const { status } = await guarded.get(
        "/workflows",
        authorization === undefined ? {} : { headers: { authorization } },
      );
      return status;
    };

    expect(await ask(`Bearer ${TOKEN}`)).toBe(200);
    expect(await ask(`bearer ${TOKEN}-new`)).toBe(200);
    for (const wrong of [undefined, "", TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, `Bearer ${TOKEN} x`, "Bearer "]) {
      expect(await ask(wrong)).toBe(401);
    }
  });

  test.each(["", "short", "with a space in it, and long", undefined, []])("by the token %o is refused", (token) => {
    expect(() => bearerToken(token as never)).toThrow(expect.objectContaining({ code: "options.invalid" }));
  });
});
