import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { ENGINES } from "../support/engines.ts";
import { workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

const PATH = "/workflows/approval/instances/one";
const LIMITED = { allow: true, payloads: false };

describe.each(ENGINES)("the inputs of an instance over HTTP on $name", (engine) => {
  const subject = useHttp(engine);

  async function setUp() {
    const app = await subject.start({ workflows, worker: false });
    const client = subject.serve(app);
    const params = { order: 7, at: new Date(5) };
    const instance = await app.workflows.approval.create({ id: "one", params, priority: 2 });
    await instance.sendEvent({ type: "noted", payload: new Map([["secret", 1]]) });
    return { app, client, instance };
  }

  test("are in its state, and not in lists", async () => {
    const { client } = await setUp();
    const { body } = await client.get(PATH);

    expect(body).toMatchObject({
      params: { order: 7, at: { $perdure: "Date" } },
      priority: 2,
      unreceivedCount: 1,
      unreceivedEvents: [{ type: "noted", at: expect.any(String), payload: { $perdure: "Map" } }],
    });
    const brief = await client.get(`${PATH}?details=false`);
    const listed = await client.get<{ instances: object[] }>("/workflows/approval/instances");
    for (const one of [brief.body, listed.body.instances[0]]) {
      expect(one).toMatchObject({ id: "one", priority: 2 });
      for (const name of ["params", "unreceivedCount", "unreceivedEvents"]) expect(one).not.toHaveProperty(name);
    }
    expect((await client.get(`${PATH}?details=maybe`)).status).toBe(400);
  });

  test("are hidden from callers that may not see payloads, and from all with redact", async () => {
    const { app } = await setUp();
    for (const options of [{ authorize: () => LIMITED }, { redact: true }]) {
      const { body } = await subject.serve(app, options).get(PATH);
      expect(body).toMatchObject({ params: "[REDACTED]", unreceivedCount: 1 });
      expect(body["unreceivedEvents"]).toMatchObject([{ type: "noted", payload: "[REDACTED]" }]);
      expect(JSON.stringify(body)).not.toContain("secret");
    }
  });

  test("are passed to the function of redact with their fields", async () => {
    const { app } = await setUp();
    const client = subject.serve(app, { redact: (_value, { field }) => `a ${field}` });
    const { body } = await client.get(PATH);
    expect(body).toMatchObject({ params: "a params", unreceivedEvents: [{ payload: "a payload" }] });
  });

  test("are the same for the client as in process", async () => {
    const { app, client, instance } = await setUp();
    const remote = createClient<typeof app>({ baseUrl: "http://localhost", fetch: client.handler });
    const one = await remote.workflows.approval.get("one");

    expect(await one.status()).toEqual(await instance.status());
    expect(await one.unreceivedEvents()).toEqual(await instance.unreceivedEvents());
    expect((await one.status()).params).toEqual({ order: 7, at: new Date(5) });
  });
});
