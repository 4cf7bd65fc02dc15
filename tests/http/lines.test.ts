import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { useHttp } from "./support/use-http.ts";

type Params = WorkflowEvent<{ shop: string }>;
const key = ({ shop }: { shop: string }) => shop;
const gates: (() => void)[] = [];

const limited = defineWorkflow({ name: "limited", concurrency: { limit: 1, key } }, async (_event: Params, step) => {
  await step.do("hold", () => new Promise<void>((resolve) => gates.push(resolve)));
});
const rated = defineWorkflow(
  { name: "rated", rateLimit: { limit: 1, period: "1 hour", key } },
  async (_event: Params) => {},
);

describe.each(ENGINES)("lines on $name", (engine) => {
  const subject = useHttp(engine);

  test("are listed with those inside and those that wait, in process, over HTTP and in the client", async () => {
    const app = await subject.start({ workflows: { limited, rated } });
    const http = subject.serve(app);
    const client = createClient({ baseUrl: "http://localhost", fetch: (request) => http.handler(request as Request) });
    gates.length = 0;
    for (const id of ["north-1", "north-2", "north-3", "south-1"]) {
      await app.workflows.limited.create({ id, params: { shop: id.slice(0, 5) } });
    }
    for (const id of ["east-1", "east-2"]) await app.workflows.rated.create({ id, params: { shop: "east" } });
    await waitUntil("two hold a slot", () => gates.length === 2);
    await (await app.workflows.rated.get("east-1")).result();
    const settled = async () => {
      const { lines } = await app.lines();
      const rate = lines.find(({ kind }) => kind === "rateLimit");
      return rate?.waiting === 1 && rate.looksAt !== null && rate.looksAt.getTime() > Date.now() + 60_000;
    };
    await waitUntil("the rate is used up", settled);

    const page = await app.lines();
    const shown = page.lines.map(({ inside, next, looksAt, ...line }) => ({
      ...line,
      inside: inside.map(({ id }) => id),
      next: next.map(({ id }) => id),
      looks: looksAt !== null,
    }));
    const workflowName = "limited";
    const north = { key: expect.stringMatching(/limited\/north$/), running: 1, inside: ["north-1"], waiting: 2 };
    const south = { key: expect.stringMatching(/limited\/south$/), running: 1, inside: ["south-1"], waiting: 0 };
    const slots = { kind: "concurrency", workflowName, limit: 1, periodMs: null, looks: false };
    const east = { key: expect.stringMatching(/rated\/east$/), running: 0, inside: [], waiting: 1, next: ["east-2"] };
    expect(shown).toEqual([
      { ...slots, ...north, next: ["north-2", "north-3"] },
      { ...slots, ...south, next: [] },
      { kind: "rateLimit", workflowName: "rated", limit: 1, periodMs: 3_600_000, looks: true, ...east },
    ]);
    expect(page.lines[0]?.inside[0]).toEqual({
      workflowName,
      id: "north-1",
      createdAt: expect.any(Date),
      startedAt: expect.any(Date),
    });
    const { status, body } = await http.get("/lines");
    expect([status, body]).toEqual([200, JSON.parse(JSON.stringify(page))]);
    expect(await client.lines()).toEqual(page);

    const waiting = await client.lines({ waiting: true });
    expect(waiting.lines.map(({ key: one }) => one.slice(one.lastIndexOf("/") + 1))).toEqual(["north", "east"]);
    const paged = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const one = await app.lines({ limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      paged.push(...one.lines);
      cursor = one.cursor;
    }
    expect(paged).toEqual(page.lines);
    for (const go of gates) go();
    await waitUntil("the next is inside", async () => (await app.lines()).lines[0]?.inside[0]?.id === "north-2");
    await app.stop({ deadlineMs: 0 });
  });

  test("refuse options that they don't have", async () => {
    const app = await subject.start({ workflows: { limited } });
    await expect(app.lines({ limit: 0 })).rejects.toMatchObject({ code: "options.invalid" });
    await expect(app.lines({ cursor: "nonsense" })).rejects.toMatchObject({ code: "cursor.invalid" });
    const denied = subject.serve(app, { authorize: () => ({ allow: true, labels: { tenant: "acme" } }) });
    expect((await denied.get("/lines")).status).toBe(403);
  });
});
