import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  createDurableHooksProcessor,
  type DurableHooksOptions,
  defineFragment,
  defineHook,
  InvalidInputError,
  instantiate,
  migrate,
  perdure,
} from "../../src/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";

/** Whatever a program in plain JavaScript may give. */
type Anything = never;

const databaseAdapter = sqlite(":memory:");
afterAll(() => databaseAdapter.store.close());

const greeting = defineFragment("greeting")
  .provideHooks(({ defineHook }) => ({ greet: defineHook((name: string) => name) }))
  .build();
const fragment = instantiate(greeting).withOptions({ databaseAdapter }).build();

function refusal(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

function expectRefusal(error: unknown, code: string, message: string): void {
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
}

describe("a definition that is refused", () => {
  const handler = () => {};
  test.each<[string, () => unknown, string, string]>([
    ["a hook without a handler", () => defineHook({} as Anything), "hook.invalid", "options and a handler"],
    ["a hook from nothing", () => defineHook(undefined as Anything), "hook.invalid", "options and a handler"],
    ["a hook with a text", () => defineHook("greet" as Anything, handler), "hook.invalid", "options and a handler"],
    ["a hook with null", () => defineHook(null as Anything, handler), "hook.invalid", "options and a handler"],
    ["a handler that is none", () => defineHook({}, "greet" as Anything), "hook.invalid", "options and a handler"],
    ["options in an array", () => defineHook([] as Anything, handler), "hook.invalid", "as an object"],
    [
      "an unknown option",
      () => defineHook({ retry: 5 } as Anything, handler),
      "hook.invalid",
      "it takes input, retries",
    ],
    [
      "an input that is no schema",
      () => defineHook({ input: {} } as Anything, handler),
      "hook.invalid",
      "Standard Schema",
    ],
    ["a bad policy", () => defineHook({ retries: { limit: -1 } }, handler), "retries.invalid", "from 0 to 10000"],
    [
      "a bad delay",
      () => defineHook({ retries: { delay: "x" as Anything } }, handler),
      "duration.invalid",
      "10 seconds",
    ],

    ["a fragment without a name", () => defineFragment(undefined as Anything), "name.invalid", "A namespace must be"],
    ["an empty name", () => defineFragment(""), "name.invalid", "1 to 100 letters, digits and . : _ -"],
    ["a name with a space", () => defineFragment("my orders"), "name.invalid", 'got "my orders"'],
    ["a name that is too long", () => defineFragment("n".repeat(101)), "name.invalid", "(101 characters)"],
    ["a name that starts with a dot", () => defineFragment(".orders"), "name.invalid", "must not start with"],
    [
      "tables under the library's own name",
      () => defineFragment("perdure").withDatabase({ migrations: [] }),
      "name.invalid",
      "call the fragment something else",
    ],
    ["no tables", () => defineFragment("a").withDatabase(undefined as Anything), "tables.invalid", "{ migrations: ["],
    [
      "tables for one database only",
      () => defineFragment("a").withDatabase({ migrations: [{ name: "a", sqlite: "select 1" }] } as Anything),
      "tables.invalid",
      "with SQL for both databases",
    ],
    [
      "hooks without a function",
      () => defineFragment("a").provideHooks({} as Anything),
      "fragment.invalid",
      "provideHooks takes a function",
    ],
    [
      "services without a function",
      () => defineFragment("a").provideServices({} as Anything),
      "fragment.invalid",
      "provideServices takes a function",
    ],

    [
      "an instance of nothing",
      () => instantiate(undefined as Anything),
      "fragment.invalid",
      "instantiate takes the result of defineFragment",
    ],
    ["an instance of a builder", () => instantiate(defineFragment("a") as Anything), "fragment.invalid", ".build()"],
    [
      "an instance without options",
      () => instantiate(greeting).build(),
      "options.invalid",
      "call withOptions before build",
    ],
    [
      "no options",
      () => instantiate(greeting).withOptions(undefined as Anything),
      "options.invalid",
      "it takes databaseAdapter, durableHooks",
    ],
    [
      "a misspelt option",
      () => instantiate(greeting).withOptions({ databaseAdaptor: databaseAdapter } as Anything),
      "options.invalid",
      'has no option "databaseAdaptor"',
    ],
    [
      "a path for an adapter",
      () =>
        instantiate(greeting)
          .withOptions({ databaseAdapter: "app.db" as Anything })
          .build(),
      "options.invalid",
      "made by sqlite(...) or postgres(...)",
    ],

    [
      "a processor of nothing",
      () => createDurableHooksProcessor(undefined as Anything),
      "processor.invalid",
      "takes a fragment, or an array of them",
    ],
    [
      "a processor of a definition",
      () => createDurableHooksProcessor([greeting] as Anything),
      "processor.invalid",
      "takes a fragment",
    ],
  ])("says what is accepted: %s", (_, call, code, message) => {
    expectRefusal(refusal(call), code, message);
  });

  test.each<[string, unknown, string, string]>([
    ["null", null, "hook.invalid", "{ name: defineHook(…) }"],
    ["an array", [defineHook(handler)], "hook.invalid", "The hooks must be an object"],
    ["a plain function", { greet: handler }, "hook.invalid", 'The hook "greet" must be made by defineHook'],
    ["a name with a space", { "my hook": defineHook(handler) }, "name.invalid", 'got "my hook"'],
    ["an empty name", { "": defineHook(handler) }, "name.invalid", "The name of a hook must be"],
  ])("says what is accepted for hooks: %s", (_, hooks, code, message) => {
    const definition = defineFragment("a")
      .provideHooks(() => hooks as Anything)
      .build();
    const instance = instantiate(definition).withOptions({ databaseAdapter });

    expectRefusal(
      refusal(() => instance.build()),
      code,
      message,
    );
  });
});

const SETTINGS: [string, DurableHooksOptions, string, string][] = [
  ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e9, "10", true, null].map(
    (minutes): [string, DurableHooksOptions, string, string] => [
      `a time-out of ${minutes}`,
      { stuckProcessingTimeoutMinutes: minutes as Anything },
      "options.invalid",
      "stuckProcessingTimeoutMinutes must be a number above zero, at most 30240, or false",
    ],
  ),
  ["onStuck as text", { onStuckProcessingHooks: "log" as Anything }, "options.invalid", "must be a function"],
  [
    "trace as text",
    { captureTraceContext: {} as Anything },
    "options.invalid",
    "captureTraceContext must be a function",
  ],
  ["to keep for ever", { keepCompleted: true as Anything }, "duration.invalid", "keepCompleted is a boolean"],
  ["to keep for less than nothing", { keepCompleted: -1 }, "duration.invalid", "it is negative"],
  ["to keep for a while", { keepCompleted: "a while" as Anything }, "duration.invalid", "10 seconds"],
  ...[0, -1, 1.5, "5", null, 64 * 1024 * 1024 + 1].map((bytes): [string, DurableHooksOptions, string, string] => [
    `payloads of ${bytes} bytes`,
    { maxPayloadBytes: bytes as Anything },
    "options.invalid",
    "maxPayloadBytes must be a whole number from 1 to 67108864",
  ]),
  ["an unknown field", { stuckTimeout: 5 } as Anything, "options.invalid", 'has no option "stuckTimeout"'],
];

describe("options of durable hooks that are refused", () => {
  test.each(SETTINGS)("say what is accepted: %s", (_, durableHooks, code, message) => {
    const instance = instantiate(greeting).withOptions({ databaseAdapter, durableHooks });

    expectRefusal(
      refusal(() => instance.build()),
      code,
      message,
    );
  });

  test("must be an object", () => {
    for (const durableHooks of [null, 5, "x", []] as Anything[]) {
      const instance = instantiate(greeting).withOptions({ databaseAdapter, durableHooks });
      expectRefusal(
        refusal(() => instance.build()),
        "options.invalid",
        "durableHooks takes its options as an object",
      );
    }
  });
});

describe("calls that are refused", () => {
  test.each([undefined, null, 5, {}, [greeting]])("migrate(%j) says what is accepted", async (fragments) => {
    await expect(migrate(fragments as Anything)).rejects.toMatchObject({
      name: "InvalidInputError",
      code: "fragment.invalid",
      message: "migrate takes a fragment, or an array of them.",
    });
  });

  test.each([undefined, null, 5, {}])("unitOfWork(%j) says what is accepted", async (body) => {
    await expect(fragment.unitOfWork(body as Anything)).rejects.toMatchObject({
      name: "InvalidInputError",
      code: "unit_of_work.invalid",
      message: expect.stringContaining("unitOfWork(async (uow) => …)"),
    });
  });

  test.each<
    [string, (uow: Parameters<Parameters<typeof fragment.unitOfWork>[0]>[0]) => Promise<unknown>, string, string]
  >([
    ["a text for a template", (uow) => uow.sql("select 1" as Anything), "sql.invalid", "uow.query(text, parameters)"],
    ["an object as a value", (uow) => uow.sql`select ${{}}`, "sql.parameter_invalid", "Parameter 1 can't be given"],
    ["an undefined value", (uow) => uow.sql`select ${1}, ${undefined}`, "sql.parameter_invalid", "Parameter 2"],
    [
      "a date that is none",
      (uow) => uow.sql`select ${new Date("x")}`,
      "sql.parameter_invalid",
      "JSON.stringify(value)",
    ],
    ["no query", (uow) => uow.query(undefined as Anything), "sql.invalid", "query takes a text of SQL"],
    ["an empty query", (uow) => uow.query(" "), "sql.invalid", "query takes a text of SQL"],
    ["parameters in an object", (uow) => uow.query("select 1", {} as Anything), "sql.parameter_invalid", "an array"],
    [
      "a function as a parameter",
      (uow) => uow.query("select ?", [(() => 1) as Anything]),
      "sql.parameter_invalid",
      "a text, a number",
    ],
  ])("SQL says what is accepted: %s", async (_, call, code, message) => {
    await expect(fragment.unitOfWork(call)).rejects.toMatchObject({
      name: "InvalidInputError",
      code,
      message: expect.stringContaining(message),
    });
  });
});

describe("perdure() that is refused", () => {
  const directory = mkdtempSync(join(tmpdir(), "perdure-refused-"));
  const database = join(directory, "app.db");
  const hooks = { greet: defineHook((name: string) => name) };
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test.each<[string, unknown, string, string]>([
    ["nothing", undefined, "options.invalid", "it takes database, "],
    ["a path", database, "options.invalid", "perdure takes its options as an object"],
    ["no database", {}, "options.invalid", "database must be a path, a postgres:// URL, or made by sqlite(...)"],
    ["a database that is null", { database: null }, "options.invalid", "database must be a path"],
    ["a database that is an object", { database: {} }, "options.invalid", "database must be a path"],
    ["an empty path", { database: "" }, "sqlite.path_invalid", "must not be empty"],
    ["another kind of database", { database: "mysql://localhost" }, "options.invalid", "a postgres:// URL"],
    ["an unknown option", { database, hook: hooks }, "options.invalid", 'perdure has no option "hook"'],
    ["a bad namespace", { database, namespace: "my app" }, "name.invalid", 'got "my app"'],
    ["hooks that aren't any", { database, hooks: null }, "hook.invalid", "{ name: defineHook(…) }"],
    ["a plain function as a hook", { database, hooks: { greet: () => {} } }, "hook.invalid", "made by defineHook"],
    [
      "a worker that is a number",
      { database, hooks, worker: 5 },
      "options.invalid",
      "worker takes its options as an object",
    ],
    [
      "a worker that is null",
      { database, hooks, worker: null },
      "options.invalid",
      "worker takes its options as an object",
    ],
    [
      "an unknown option of the worker",
      { database, worker: { threads: 5 } },
      "options.invalid",
      'has no option "threads"',
    ],
    [
      "a worker without room",
      { database, hooks, worker: { concurrency: 0 } },
      "options.invalid",
      "concurrency must be",
    ],
    ["a bad time-out", { database, stuckProcessingTimeoutMinutes: 0 }, "options.invalid", "above zero"],
    ["a bad time to keep", { database, keepCompleted: "ages" }, "duration.invalid", "keepCompleted is"],
  ])("says what is accepted, and leaves no file behind: %s", async (_, options, code, message) => {
    await expect(perdure(options as Anything)).rejects.toMatchObject({
      name: "InvalidInputError",
      code,
      message: expect.stringContaining(message),
    });
    expect(existsSync(database)).toBe(false);
  });

  test("says which file can't be opened", async () => {
    const missing = join(directory, "no such folder", "app.db");
    await expect(perdure({ database: missing })).rejects.toMatchObject({
      name: "StoreError",
      code: "store.rejected",
      message: expect.stringContaining(`The SQLite database ${JSON.stringify(missing)} can't be opened`),
    });
  });

  test("can be stopped after a deadline that is none was refused", async () => {
    const app = await perdure({ database: sqlite(":memory:"), hooks });
    await expect(app.stop({ deadlineMs: -1 })).rejects.toMatchObject({ code: "options.invalid" });
    await app.stop();
  });
});
