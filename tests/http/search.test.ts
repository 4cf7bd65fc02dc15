import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Application } from "../../src/app/perdure.ts";
import { createClient } from "../../src/client/index.ts";
import { defineHook } from "../../src/hooks/define-hook.ts";
import type { HookListOptions } from "../../src/hooks/durable-hooks.ts";
import { createHttpHandler } from "../../src/http/index.ts";
import { NonRetryableError, type WorkflowEvent } from "../../src/index.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { InstanceListOptions, InstancePage } from "../../src/workflows/instances/workflow-binding.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { type Client, useHttp } from "./support/use-http.ts";

const child = defineWorkflow({ name: "child" }, async () => "done");
const order = defineWorkflow({ name: "order", version: 3 }, async (event: WorkflowEvent<string>, step) => {
  const mode = event.payload;
  await step.do(`charge ${mode}`, () => mode);
  if (mode === "parent") await step.create(child, { id: "born" });
  if (mode === "fail") throw new RangeError("The card 4711 was Declined.");
  return mode;
});
const mail = defineHook({ retries: { limit: 0 } }, async (payload: string) => {
  if (payload === "fail") throw new NonRetryableError("Mailbox is Full.");
});
const later = defineHook({}, async (_payload: string) => {});

type App = Application<{ mail: typeof mail; later: typeof later }, { order: typeof order; child: typeof child }>;

const MODES = ["plain", "parent", "fail"] as const;

describe.each([...ENGINES, ENCRYPTED_SQLITE])("a search of instances and hooks on $name", (engine) => {
  const subject = useHttp(engine);
  let app: App;
  let http: Client;
  const remote = () => {
    const handler = createHttpHandler(app, { authorize: () => true, logger: subject.logs });
    return createClient<App>({
      baseUrl: "http://localhost/",
      fetch: handler,
    });
  };

  beforeAll(async () => {
    app = await subject.start({ workflows: { order, child }, hooks: { mail, later } });
    http = subject.serve(app);
    for (const mode of MODES) {
      const labels = { mode };
      for (const prefix of mode === "parent" ? ["a"] : ["a", "b"]) {
        const run = await app.workflows.order.create({ id: `${prefix}-${mode}`, params: mode, labels });
        await run.result().catch(() => {});
      }
    }
    for (const id of ["x-1", "x-2", "y-1"]) await app.hooks.mail.trigger("fail", { id });
    await app.hooks.later.trigger("plain", { id: "x-1", processAt: new Date(Date.now() + 3_600_000) });
    await waitUntil(
      "all dead letters are there",
      async () => (await app.durableHooks.deadLetters()).hooks.length === 3,
    );
  });
  afterAll(() => subject.end());

  const idsOf = ({ instances }: InstancePage) => instances.map(({ id }) => id).sort();

  /** The same, in process, over HTTP and by the client. */
  async function find(options: InstanceListOptions): Promise<string[]> {
    const found = idsOf(await app.instances.list(options));
    expect(idsOf(await remote().instances.list(options))).toEqual(found);
    expect(idsOf(await remote().workflows.order.list(options))).toEqual(idsOf(await app.workflows.order.list(options)));
    return found;
  }

  async function findHooks(options: HookListOptions): Promise<string[]> {
    const { hooks } = await app.durableHooks.list(options);
    const ids = hooks.map(({ id }) => id).sort();
    const { hooks: found } = await remote().durableHooks.list(options);
    expect(found.map(({ id }) => id).sort()).toEqual(ids);
    return ids;
  }

  test("finds instances whose ids begin alike", async () => {
    expect(await find({ idPrefix: "a-" })).toEqual(["a-fail", "a-parent", "a-plain"]);
    expect(await find({ idPrefix: "b-p" })).toEqual(["b-plain"]);
    expect(await find({ idPrefix: "a-", status: "errored", labels: { mode: "fail" } })).toEqual(["a-fail"]);
    expect(await find({ idPrefix: "a-", labels: { mode: "other" } })).toEqual([]);
    expect(await find({ idPrefix: "%" })).toEqual([]);
  });

  test("finds the errors that have a text, in upper or lower case", async () => {
    expect(await find({ error: "declined" })).toEqual(["a-fail", "b-fail"]);
    expect(await find({ error: "RANGEERROR", idPrefix: "b" })).toEqual(["b-fail"]);
    expect(await find({ error: "declined", status: "complete" })).toEqual([]);
    expect(await find({ error: "stack" })).toEqual([]);
  });

  test("finds instances by version, parent and step", async () => {
    expect(await find({ version: 3, labels: { mode: "plain" } })).toEqual(["a-plain", "b-plain"]);
    expect(await find({ version: null })).toEqual(["born"]);
    expect(await find({ version: 2 })).toEqual([]);
    expect(await find({ parent: { workflowName: "order", id: "a-parent" } })).toEqual(["born"]);
    expect(await find({ parent: { workflowName: "order", id: "a-par" } })).toEqual([]);
    expect(await find({ step: "charge fail" })).toEqual(["a-fail", "b-fail"]);
    expect(await find({ step: "charge" })).toEqual([]);
  });

  test("gives every match once, page by page, in both orders", async () => {
    for (const order of ["newest", "oldest"] as const) {
      for (const filter of [{ idPrefix: "a-" }, { version: 3 }, { error: "declined" }, { step: "charge plain" }]) {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page: InstancePage = await app.instances.list({
            ...filter,
            order,
            limit: 1,
            ...(cursor && { cursor }),
          });
          expect(page.instances).toHaveLength(1);
          seen.push(...idsOf(page));
          cursor = page.cursor;
        } while (cursor !== null);
        expect(seen.sort()).toEqual(await find(filter));
      }
    }
  });

  test("finds hooks by id, name, status, time and error", async () => {
    expect(await findHooks({ idPrefix: "mail/x" })).toEqual(["mail/x-1", "mail/x-2"]);
    expect(await findHooks({ name: "later" })).toEqual(["later/x-1"]);
    expect(await findHooks({ status: "pending" })).toEqual(["later/x-1"]);
    expect(await findHooks({ status: "failed", idPrefix: "mail/y" })).toEqual(["mail/y-1"]);
    expect(await findHooks({ error: "is full" })).toEqual(["mail/x-1", "mail/x-2", "mail/y-1"]);
    expect(await findHooks({ error: "is full", status: "failed", idPrefix: "mail/x-2" })).toEqual(["mail/x-2"]);
    expect(await findHooks({ error: "is empty" })).toEqual([]);
    const now = Date.now();
    expect(await findHooks({ createdFrom: new Date(now + 60_000) })).toEqual([]);
    expect(await findHooks({ createdBefore: new Date(now + 60_000), name: "later" })).toEqual(["later/x-1"]);
  });

  test("refuses what it doesn't understand, and over HTTP errors that it hides", async () => {
    const refused = [
      { idPrefix: "" },
      { version: "3" },
      { version: 0 },
      { parent: { id: "a" } },
      { step: 1 },
      { error: "x".repeat(1025) },
      { parent: "order/a" },
    ];
    for (const options of refused) {
      await expect(app.instances.list(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
    for (const options of [{ idPrefix: "\0" }, { createdFrom: "now" }, { error: null }]) {
      await expect(app.durableHooks.list(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
    for (const path of ["/instances?parentId=a", "/instances?version=x", "/hooks?idPrefix="]) {
      expect((await http.get(path)).status).toBe(400);
    }
    const hiding = subject.serve(app, { redact: true });
    for (const path of ["/instances", "/workflows/order/instances", "/hooks"]) {
      expect((await hiding.get(`${path}?error=declined`)).status).toBe(400);
      expect((await hiding.get(`${path}?idPrefix=a`)).status).toBe(200);
    }
  });
});
