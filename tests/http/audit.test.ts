import { describe, expect, test } from "vitest";
import type { AuditEntry, HttpHandlerOptions } from "../../src/http/index.ts";
import { ENGINES } from "../support/engines.ts";
import { hooks, workflows } from "./support/sample-app.ts";
import { useHttp } from "./support/use-http.ts";

const INSTANCES = "/workflows/approval/instances";

describe.each(ENGINES)("the audit of changes on $name", (engine) => {
  const subject = useHttp(engine);

  async function serve(options: Partial<HttpHandlerOptions> = {}) {
    const entries: AuditEntry[] = [];
    const app = await subject.start({ workflows, hooks });
    const client = subject.serve(app, {
      authorize: ({ operation, request }) =>
        operation === "manage" && request.headers.get("x-caller") !== "ada"
          ? false
          : { allow: true, caller: request.headers.get("x-caller") ?? "unknown" },
      onAudit: (entry) => entries.push(entry),
      ...options,
    });
    return { app, client, entries };
  }

  test("names the actor, the action, the target and the outcome of each change", async () => {
    const { client, entries } = await serve();
    const ada = { headers: { "x-caller": "ada" } };
    await client.post(INSTANCES, { id: "one", params: "secret" }, ada);
    await client.post(`${INSTANCES}/one/terminate`, {}, { headers: { "x-caller": "bob" } });
    await client.post(`${INSTANCES}/one/terminate`, {}, ada);
    await client.post(`${INSTANCES}/one/terminate`, {}, ada);
    await client.post(`${INSTANCES}/batch/delete`, { ids: ["one", "two"] }, ada);

    const target = { kind: "instance", workflowName: "approval", instanceId: "one" };
    const workflow = { kind: "workflow", workflowName: "approval" };
    expect(entries).toMatchObject([
      {
        actor: "ada",
        action: "createInstance",
        target: workflow,
        ids: ["one"],
        outcome: "done",
        status: 201,
        code: null,
      },
      { actor: null, action: "terminateInstance", target, outcome: "refused", status: 403, code: "http.forbidden" },
      { actor: "ada", action: "terminateInstance", target, outcome: "done", code: null },
      { actor: "ada", action: "terminateInstance", target, outcome: "refused", code: "instance.finished" },
      { actor: "ada", action: "deleteBatch", operation: "manage", ids: ["one", "two"], outcome: "done" },
    ]);
    expect(entries.every(({ at }) => at instanceof Date)).toBe(true);
    expect(JSON.stringify(entries)).not.toContain("secret");
  });

  test("has the id that a new instance got, and nothing of reads", async () => {
    const { client, entries } = await serve();
    await client.get(INSTANCES);
    const { body } = await client.post<{ id: string }>(INSTANCES, {});
    expect(entries.map(({ action, ids }) => [action, ids])).toEqual([["createInstance", [body.id]]]);
  });

  test("has no token of a step", async () => {
    const { client, entries } = await serve();
    await client.post("/tokens/not-a-token", { payload: 1 });
    expect(entries).toMatchObject([{ target: { kind: "application" }, ids: [], outcome: "refused" }]);
    expect(JSON.stringify(entries)).not.toContain("not-a-token");
  });

  test("changes no answer when it throws", async () => {
    const onAudit = () => {
      throw new Error("The disk is full.");
    };
    const { client } = await serve({ onAudit });
    expect((await client.post(INSTANCES, { id: "one" })).status).toBe(201);
  });

  test("must be a function", async () => {
    await expect(serve({ onAudit: "log" as never })).rejects.toMatchObject({ code: "options.invalid" });
  });
});
