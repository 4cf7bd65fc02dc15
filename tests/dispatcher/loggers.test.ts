import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import { defineHook, type Logger, perdure } from "../../src/index.ts";

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
