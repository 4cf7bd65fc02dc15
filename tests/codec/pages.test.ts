import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/index.ts";
import { type Codec, defineHook, defineWorkflow, NonRetryableError, perdure } from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { NEW, OLD } from "./support/keys.ts";

const MARK = { code: "codec.key_missing", message: expect.stringContaining('"old"') };

describe.each(ENGINES)("a page on $name of which one row can't be read", (engine) => {
  let database: TestStore;
  beforeAll(async () => {
    database = await engine.create();
    for (const [id, codec] of [
      ["old", OLD],
      ["new", NEW],
    ] as const) {
      await using app = await open(codec, true);
      const { greet } = app.workflows;
      await (await greet.create({ id })).result();
      await greet.restartOrCreate({ id });
      await (await greet.get(id)).result();
      await app.hooks.fail.trigger(id);
      const isDead = async () => (await app.durableHooks.deadLetters({ order: "newest" })).hooks[0]?.payload === id;
      await waitUntil("the hook has failed", isDead);
    }
  });
  afterAll(() => database.dispose());

  const greet = defineWorkflow({ name: "greet" }, async (_, step) => step.do("hello", async () => "hello"));
  const fail = defineHook({ retries: { limit: 0 } }, (_: string) => {
    throw new NonRetryableError("no");
  });

  function open(codec: Codec, works = false) {
    const logger = new LogBook();
    const worker = works ? { onError: () => {} } : (false as const);
    const adapter = database.reopen({ codec, logger });
    return perdure({ database: adapter, workflows: { greet }, hooks: { fail }, worker, logger });
  }

  test("shows the others, and marks that one: instances", async () => {
    await using app = await open(NEW);
    const { instances } = await app.workflows.greet.list({ order: "oldest" });
    expect(instances).toMatchObject([
      { id: "old", status: "complete", run: 2, unreadable: MARK },
      { id: "new", status: "complete", output: "hello" },
    ]);
    expect(instances[0]).not.toHaveProperty("output");
    expect(instances[1]).not.toHaveProperty("unreadable");
    await expect((await app.workflows.greet.get("old")).status()).rejects.toMatchObject({ code: "codec.key_missing" });
  });

  test("shows the others, and marks that one: a history", async () => {
    await using app = await open(NEW);
    const history = await (await app.workflows.greet.get("old")).history({ run: 1 });
    expect(history).toMatchObject({
      earlierRuns: [{ run: 1, status: "complete", unreadable: MARK }],
      entries: [{ kind: "completed", name: "hello", unreadable: MARK }],
    });
    expect(history.entries[0]).not.toHaveProperty("output");
  });

  test("shows the others, and marks that one: hooks", async () => {
    await using app = await open(NEW);
    const { hooks } = await app.durableHooks.deadLetters({ order: "oldest" });
    expect(hooks).toMatchObject([
      { status: "failed", payload: undefined, error: undefined, unreadable: MARK },
      { status: "failed", payload: "new", error: { message: "no" } },
    ]);
  });

  test("shows the others, and marks that one: over HTTP", async () => {
    await using app = await open(NEW);
    const handler = createHttpHandler(app, { authorize: () => true, logger: new LogBook() });
    const get = async (path: string) => {
      const response = await handler(new Request(`http://localhost${path}`));
      expect(response.status).toBe(200);
      return (await response.json()) as unknown;
    };
    expect(await get("/workflows/greet/instances?order=oldest")).toMatchObject({
      instances: [
        { id: "old", unreadable: MARK },
        { id: "new", output: "hello" },
      ],
    });
    expect(await get("/workflows/greet/instances/old/history")).toMatchObject({
      earlierRuns: [{ unreadable: MARK }],
      entries: [{ unreadable: MARK }, { unreadable: MARK }],
    });
    expect(await get("/hooks?order=oldest")).toMatchObject({ hooks: [{ unreadable: MARK }, { payload: "new" }] });
  });
});
