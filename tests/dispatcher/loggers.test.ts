import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type DatabaseAdapter, defineHook, defineWorkflow, type Logger, perdure } from "../../src/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs a hook that fails for good, with this logger. */
async function failWith(logger?: Logger): Promise<void> {
  const fails = defineHook({ retries: { limit: 0 } }, async () => {
    throw Object.assign(new TypeError("no such mailbox", { cause: new Error("why") }), { secret: "the password" });
  });
  const app = await perdure({ database: ":memory:", hooks: { fails }, worker: false, ...(logger && { logger }) });
  await app.hooks.fails.trigger();
  await app.drain();
  await app.stop();
}

test("pino keeps the message, the error with its stack, and the other details", async () => {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  await failWith(pino({}, stream));

  expect(lines).toMatchObject([
    {
      level: 50,
      msg: expect.stringMatching(/^The hook app\/fails .* failed for good\.$/),
      attempt: 1,
      err: {
        type: "TypeError",
        message: expect.stringContaining("no such mailbox"),
        stack: expect.stringContaining("loggers.test.ts"),
      },
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain("password");
});

test("a child of pino is taken, and its fields stay", async () => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  await failWith(pino({}, stream).child({ part: "queue" }));
  expect(JSON.parse(lines[0] as string)).toMatchObject({ part: "queue", err: { type: "TypeError" } });
});

test.each(["console", "the default log"])("%s shows the message and the error with its stack", async (which) => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  await failWith(which === "console" ? console : undefined);

  const [message, details] = error.mock.calls[0] as [string, { error: Error }];
  expect(message).toMatch(/hook app\/fails .* failed for good/);
  expect(details.error).toBeInstanceOf(TypeError);
  expect(details.error.stack).toContain("loggers.test.ts");
  expect(details.error.cause).toMatchObject({ message: "why" });
  expect(details.error).not.toHaveProperty("secret");
});

describe("a database that was opened by itself", () => {
  const careless = defineWorkflow({ name: "careless" }, async (_event, step) => {
    void step.do("forgotten", () => {});
  });

  /** Runs an instance of which the log must tell something. */
  async function forget(database: DatabaseAdapter, logger?: Logger): Promise<void> {
    await using app = await perdure({ database, workflows: { careless }, worker: false, ...(logger && { logger }) });
    await app.workflows.careless.create();
    await app.drain();
  }

  function record(): Logger & { readonly lines: string[] } {
    const lines: string[] = [];
    const write = (message: string) => void lines.push(message);
    return { lines, info: write, warn: write, error: write };
  }

  test("writes to the logger of the application that uses it", async () => {
    await using database = sqlite(":memory:");
    const [first, second] = [record(), record()];
    await forget(database, first);
    await forget(database, second);
    expect(first.lines).toEqual([expect.stringContaining("without waiting for some of its steps")]);
    expect(second.lines).toEqual(first.lines);
  });

  test("writes to its own logger if it has one", async () => {
    const [own, other] = [record(), record()];
    await using database = sqlite(":memory:", { logger: own });
    await forget(database, other);
    expect([own.lines.length, other.lines]).toEqual([1, []]);
  });
});

test("a logger without the methods of one is refused before a database is opened", async () => {
  const options = { database: "/nowhere/at/all.db", logger: { log: () => {} } as never };
  await expect(perdure(options)).rejects.toMatchObject({ code: "options.invalid" });
});
