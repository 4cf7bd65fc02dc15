import { describe, expect, test } from "vitest";
import { accessTokens, type NewAccessToken } from "../../src/http/index.ts";
import { createRoutes } from "../../src/http/routes/index.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { readEvents } from "./support/read-events.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

const SECRET = "a secret of more than thirty-two characters";
const ONE = { workflowName: "approval", instanceId: "one", expiresIn: "1 hour" } as const;
const PATH = "/workflows/approval/instances/one";

describe("access tokens", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);
  const tokens = accessTokens({ secret: SECRET });

  async function setUp() {
    const app = await subject.start({ workflows, hooks });
    await app.workflows.approval.create({ id: "one", params: "private", labels: { tenant: "a" } });
    await app.workflows.approval.create({ id: "two" });
    const seen: string[] = [];
    const errors: string[] = [];
    const client = subject.serve(app, {
      accessTokens: tokens,
      authorize: ({ request }) => {
        seen.push(request.url);
        return false;
      },
      onError: (_error, { request }) => errors.push(request.url),
      tick: true,
    });
    const bearer = (token: string) => ({
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    return { app, client, bearer, seen, errors };
  }

  test("let their holder use one instance, and only as they say", async () => {
    const { client, bearer, seen } = await setUp();
    const token = await tokens.create(ONE);
    const sender = await tokens.create({ ...ONE, operations: ["events"] });
    const event = { type: "approved", payload: 1 };

    expect((await client.get(PATH, bearer(token))).status).toBe(200);
    expect((await client.get(`${PATH}?access_token=${token}`)).status).toBe(200);
    expect((await client.post(`${PATH}/events`, event, bearer(token))).status).toBe(403);
    expect((await client.get(PATH, bearer(sender))).status).toBe(403);
    expect((await client.post(`${PATH}/events?access_token=${sender}`, event)).status).toBe(403); // browsers would send it with any form
    expect(seen).toEqual([`http://localhost${PATH}/events?access_token=${sender}`]);
    expect((await client.post(`${PATH}/events`, event, bearer(sender))).status).toBe(204);
    expect((await client.becomes(`${PATH}?access_token=${token}`, "complete"))["output"]).toBe(1);
  });

  test("open no route that isn't about their instance", async () => {
    const { client, bearer } = await setUp();
    const token = await tokens.create({ ...ONE, operations: ["read", "manage", "events"] });
    const opened: string[] = [];
    for (const { method, path, name } of createRoutes({ basePath: "", tick: true })) {
      for (const [workflow, id] of [
        ["approval", "two"],
        ["echo", "one"],
        ["approval", "one"],
      ] as const) {
        const filled = path
          .replace("{workflowName}", workflow)
          .replace("{instanceId}", id)
          .replaceAll(/\{\w+\}/g, "x");
        if (name === "subscribe" && id === "one" && workflow === "approval") continue;
        const { status } = await client.send(
          method,
          filled,
          method === "POST" ? { json: {}, ...bearer(token) } : bearer(token),
        );
        if (status !== 403) opened.push(`${name} ${workflow} ${id}`);
      }
    }
    const ofInstance = [
      "getInstance",
      "deleteInstance",
      "pauseInstance",
      "resumeInstance",
      "terminateInstance",
      "restartInstance",
      "retryInstance",
      "sendEvent",
      "explainInstance",
      "readHistory",
    ];
    const holders = opened.filter((one) => !one.startsWith("completeToken")); // whose token is the permission
    expect(holders.sort()).toEqual(ofInstance.map((name) => `${name} approval one`).sort());
  });

  test("are refused if they are changed, made with another secret, expired or not configured", async () => {
    const { app, client, bearer } = await setUp();
    const token = await tokens.create(ONE);
    const middle = Math.floor(token.length / 2);
    const changed = `${token.slice(0, middle)}${token[middle] === "A" ? "B" : "A"}${token.slice(middle + 1)}`;
    const foreign = await accessTokens({ secret: `another ${SECRET}` }).create(ONE);
    for (const wrong of [changed, foreign, "pat_", "pat_x", `${token}x`, "pat_!", `pat_${"A".repeat(10_000)}`]) {
      const { status, body } = await client.get(PATH, bearer(wrong));
      expect([status, body["code"]]).toEqual([401, "http.unauthenticated"]);
    }
    for (const query of ["access_token=", `access_token=${token}&access_token=${token}`, `access_token=${SECRET}`]) {
      expect((await client.get(`${PATH}?${query}`)).status).toBe(401);
    }
    const without = subject.serve(app);
    expect((await without.get(`${PATH}?access_token=${token}`)).status).toBe(401);
    const short = await tokens.create({ ...ONE, expiresIn: 1000 });
    const expired = await waitUntil("it has expired", async () => {
      const reply = await client.get(PATH, bearer(short));
      return reply.status === 401 ? reply : null;
    });
    expect(expired.body["code"]).toBe("http.token_expired");
    const renewed = subject.serve(app, { accessTokens: accessTokens({ secret: [`new ${SECRET}`, SECRET] }) });
    expect((await renewed.get(PATH, bearer(token))).status).toBe(200);
  });

  test("end the streams that they opened when they expire", async () => {
    const { client } = await setUp();
    const token = await tokens.create({ ...ONE, expiresIn: "4 seconds" });
    const url = `http://localhost${PATH}/subscribe?filter=workflow_completed&access_token=${token}`;
    const response = await client.handler(new Request(url));
    expect(response.status).toBe(200);
    expect(await Array.fromAsync(readEvents(response))).toEqual([]);
    expect((await client.handler(new Request(url))).status).toBe(401);
  });

  test("can hide payloads, and keep to labels", async () => {
    const { app, client, bearer } = await setUp();
    const blind = await tokens.create({ ...ONE, payloads: false, labels: { tenant: "a" } });
    const started = await client.handler(
      new Request(`http://localhost${PATH}/subscribe?filter=workflow_started&access_token=${blind}`),
    );
    for await (const { data } of readEvents(started)) {
      expect(JSON.stringify(data)).not.toContain("private");
      break;
    }
    await (await app.workflows.approval.get("one")).delete();
    await app.workflows.approval.create({ id: "one", labels: { tenant: "b" } });
    expect((await client.get(PATH, bearer(blind))).status).toBe(404);
  });

  test("are in no URL that other code of the server sees", async () => {
    const { app, client, seen, errors } = await setUp();
    const token = await tokens.create(ONE);
    await app.stop({ deadlineMs: 0 });
    await subject.database?.store.close().catch(() => {});
    const { status } = await client.get(`${PATH}?access_token=${token}`);
    expect(status).toBeGreaterThanOrEqual(500);
    expect([errors, seen]).toEqual([[`http://localhost${PATH}`], []]);
    expect(JSON.stringify(subject.logs.lines)).not.toContain(token.slice(4));
  });
});

test.each([
  { ...ONE, workflowName: "" },
  { ...ONE, instanceId: "a/b" },
  { ...ONE, operations: [] },
  { ...ONE, operations: ["create"] },
  { ...ONE, expiresIn: 999 },
  { ...ONE, expiresIn: "31 days" },
  { ...ONE, expiresIn: undefined },
  { ...ONE, labels: {} },
  { ...ONE, payloads: 1 },
  { ...ONE, caller: "" },
  { ...ONE, audience: "x" },
])("an access token for %o is refused", async (options) => {
  const tokens = accessTokens({ secret: SECRET });
  await expect(tokens.create(options as unknown as NewAccessToken)).rejects.toMatchObject({
    name: "InvalidInputError",
  });
});

test.each(["short", "", [], undefined, [SECRET, "short"]])("access tokens with the secret %o are refused", (secret) => {
  expect(() => accessTokens({ secret: secret as never })).toThrow(expect.objectContaining({ code: "options.invalid" }));
});
