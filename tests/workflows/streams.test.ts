import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow, StoredStream, type WorkflowInstance } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { exploreCrashes } from "../../src/testing/index.ts";
import { forever } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { follow } from "./support/followed.ts";
import { becomes } from "./support/sample.ts";
import { eventually, LEASE_MS, useWorkflows, withTime } from "./support/use-workflows.ts";

function streamOf(...pieces: readonly unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function read(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const pieces: unknown[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

async function digest(stream: ReadableStream<unknown>): Promise<{ length: number; sum: number }> {
  let length = 0;
  let sum = 0;
  for (const piece of (await read(stream)) as Uint8Array[]) {
    length += piece.length;
    for (const byte of piece) sum = (sum * 31 + byte) % 1_000_003;
  }
  return { length, sum };
}

/** A million bytes and some more, in pieces of odd sizes. */
function large(): Uint8Array[] {
  const all = new Uint8Array(1_100_003).map((_, index) => (index * 7 + (index >> 9)) & 0xff);
  const pieces: Uint8Array[] = [];
  for (let start = 0, size = 1; start < all.length; start += size, size = (size * 3) % 400_009) {
    pieces.push(all.subarray(start, start + size));
  }
  return pieces;
}

describe.each(ENGINES)("steps that give streams on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  let before = 0;

  beforeEach(async () => {
    before = 0;
    before = await chunks();
  });

  /** How many chunks there are that weren't there when the test began. */
  async function chunks(): Promise<number> {
    const store = subject.database?.store as Store;
    const table = store.engine.dialect === "sqlite" ? "perdure_stream_chunk" : '"perdure".stream_chunk';
    const [row] = await store.engine.transaction((tx) => tx.query(`select count(*) as chunks from ${table}`, []));
    return Number(row?.chunks) - before;
  }

  test.each([
    ["bytes", large()],
    ["nothing", []],
    ["text", ["", "ä\0", "\ud83d", "\ude00", "\ufeffend", "x".repeat(300_000), "😀".repeat(70_000)]],
    ["text that isn't well-formed", ["a\ud800b", "\udc00"]],
  ])("get back %s, in the first run as after a replay", async (kind, pieces) => {
    const seen: unknown[] = [];
    const whole = (parts: unknown[]) =>
      kind.startsWith("text") ? parts.join("") : Buffer.concat(parts as Uint8Array[]).toString("base64");
    const workflow = defineWorkflow({ name: "streams" }, async (_event, step) => {
      const stream = await step.do("read", () => streamOf(...pieces));
      seen.push(whole(await read(stream)));
      await step.sleep("long", "1 hour");
      seen.push(whole(await read((stream as StoredStream).reopen())));
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "waiting" }));
    await process.close();
    const next = subject.start({ workflow });
    const again = await next.workflows.workflow.get("one");
    await subject.clock.advanceAndSettle(3_600_000);
    await withTime(subject.clock, async () => expect(await again.status()).toMatchObject({ status: "complete" }));

    expect(seen.length).toBe(3);
    expect(seen.every((one) => one === whole([...pieces]))).toBe(true);
    const bytes = kind === "bytes" ? { bytes: 1_100_003 } : {};
    const stream = kind.startsWith("text") ? "text" : "bytes";
    expect((await again.history()).entries[0]?.output).toMatchObject({ stream, ...bytes });
    const events = await follow(again, { filter: ["step_completed"] });
    expect(events[0]).toMatchObject({ output: { stream, ...bytes } });
    await again.delete();
    expect(await chunks()).toBe(0);
  });

  test("are read chunk by chunk, as they are asked for, and written so", async () => {
    let pulled = 0;
    let most = 0;
    const held: Promise<unknown>[] = [];
    const workflow = defineWorkflow({ name: "streams" }, async (_event, step) => {
      const stream = await step.do("read", () => {
        return new ReadableStream<Uint8Array>({
          pull(controller) {
            if (pulled === 40) controller.close();
            else controller.enqueue(new Uint8Array(100_000).fill(pulled++));
          },
        });
      });
      const reader = stream.getReader();
      const first = await reader.read();
      return {
        first: first.value?.length,
        size: (stream as StoredStream).size,
        stored: stream instanceof StoredStream,
      };
    });
    const process = subject.start({ workflow });
    const { streams } = process.store;
    const write = streams.write.bind(streams);
    let writing = 0;
    vi.spyOn(streams, "write").mockImplementation((lease, chunk) => {
      most = Math.max(most, ++writing);
      const answer = write(lease, chunk).finally(() => writing--);
      held.push(answer);
      return answer;
    });
    const reads = vi.spyOn(streams.statements, "read");
    const instance = await process.workflows.workflow.create({ id: "one" });

    await expect(instance.result()).resolves.toEqual({ first: 262_144, size: 4_000_000, stored: true });
    expect(held).toHaveLength(16);
    expect(most).toBe(1);
    expect(reads).toHaveBeenCalledTimes(1);
  });

  test("fail clearly with what can't be stored, or is too large, and leave nothing behind", async () => {
    const cancelled: unknown[] = [];
    const workflow = defineWorkflow({ name: "streams" }, async (_event, step) => {
      const codes: unknown[] = [];
      const code = (error: { code?: string }) => void codes.push(error.code);
      await step.do("objects", () => streamOf({ no: 1 })).catch(code);
      await step.do("mixed", () => streamOf("a", new Uint8Array(1))).catch(code);
      const endless = new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(300_000)),
        cancel: (reason) => void cancelled.push((reason as { code: string }).code),
      });
      await step.do("large", () => endless).catch(code);
      await step.do("inside", () => ({ stream: streamOf("a") })).catch(code);
      return codes;
    });
    const process = subject.start({ workflow }, { workflowLimits: { streamBytes: 1_000_000 } });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await expect(instance.result()).resolves.toEqual([
      "stream.invalid",
      "stream.invalid",
      "stream.too_large",
      "value.unsupported",
    ]);
    expect(cancelled).toEqual(["stream.too_large"]);
    await eventually(async () => expect(await chunks()).toBe(0));
  });

  test("are tried again when the stream fails or takes too long; only the last one is kept", async () => {
    let cancelled = false;
    const workflow = defineWorkflow({ name: "streams" }, async (_event, step) => {
      const config = { retries: { limit: 2, delay: 10 }, timeout: 1000 };
      const stream = await step.do("read", config, ({ attempt }) => {
        let given = 0;
        return new ReadableStream<Uint8Array>({
          pull(controller) {
            if (given++ < attempt) controller.enqueue(new Uint8Array(262_144).fill(attempt));
            else if (attempt === 1) controller.error(new Error("cut"));
            else if (attempt === 3) controller.close();
            return attempt === 2 && given > 2 ? forever() : undefined;
          },
          cancel() {
            cancelled = true;
          },
        });
      });
      return digest(stream);
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));

    expect(await instance.result()).toMatchObject({ length: 3 * 262_144 });
    expect(cancelled).toBe(true);
    const { entries } = await instance.history();
    expect(entries.map(({ kind, error }) => error?.message ?? kind)).toEqual([
      "cut",
      "The step didn't end within 1000 milliseconds.",
      "completed",
    ]);
    await eventually(async () => expect(await chunks()).toBe(3));
    await instance.restart();
    await eventually(async () => expect(await chunks()).toBeLessThan(3));
  });

  test("begin again when the process is lost between chunks, and what was written is wiped", async () => {
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "streams" }, async (_event, step) => {
      const stream = await step.do("read", ({ attempt }) => {
        attempts.push(attempt);
        let given = 0;
        return new ReadableStream<Uint8Array>({
          pull(controller) {
            if (given++ < 3) controller.enqueue(new Uint8Array(262_144).fill(attempt));
            else if (attempt === 2) controller.close();
            return attempt === 1 && given > 3 ? forever() : undefined;
          },
        });
      });
      return digest(stream);
    });
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    await lost.workflows.workflow.create({ id: "one" });
    await eventually(async () => expect(await chunks()).toBe(3));
    vi.spyOn(lost.store.instances.statements, "claim").mockResolvedValue([]); // it is gone, and takes nothing over
    await subject.clock.advanceAndSettle(2 * LEASE_MS);
    const process = subject.start({ workflow });
    const instance: WorkflowInstance = await process.workflows.workflow.get("one");
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));

    const expected = await digest(streamOf(new Uint8Array(3 * 262_144).fill(2)));
    expect(await instance.result()).toEqual(expected);
    expect(attempts).toEqual([1, 2]);
    expect(await chunks()).toBe(3);
  });

  test("of an owner that has lost the instance are not written", async () => {
    let more: (() => void) | undefined;
    const workflow = defineWorkflow({ name: "streams" }, async (_event, step) => {
      await step.do("read", () => {
        return new ReadableStream<Uint8Array>({
          pull: (controller) =>
            new Promise<void>((resolve) => {
              more = () => {
                controller.enqueue(new Uint8Array(262_144));
                resolve();
              };
            }),
        });
      });
    });
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    const instance = await lost.workflows.workflow.create({ id: "one" });
    await becomes(instance, "running");
    await eventually(() => expect(more).toBeDefined());
    const write = vi.spyOn(lost.store.streams.statements, "write");
    const other = subject.process({ workflow });
    await (await other.workflows.workflow.get("one")).terminate();
    more?.();
    await eventually(() => expect(write.mock.results).toHaveLength(1));

    await expect(write.mock.results[0]?.value).resolves.toBe(false);
    expect(await chunks()).toBe(0);
    await becomes(instance, "terminated");
  });
});

describe("crashes at every commit of a step that gives a stream and reports its progress", () => {
  test("make no difference", async () => {
    const { outcomes, runs } = await exploreCrashes(
      {
        setUp() {
          const workflow = defineWorkflow({ name: "streams" }, async (_event, step) => {
            const stream = await step.do("read", { progress: "keep" }, async (ctx) => {
              await ctx.emit("begun");
              return streamOf(new Uint8Array(600_000).fill(7));
            });
            const first = await digest(stream);
            await step.sleep("long", "1 hour");
            const second = await digest((stream as StoredStream).reopen());
            await step.do("after", () => 0);
            return { first, second };
          });
          return { workflows: { workflow } };
        },
        run: async (app) => void (await app.workflows.workflow.create({ id: "one", onConflict: "return" })),
        check: async (app) => (await app.workflows.workflow.get("one")).result(),
      },
      { runAgain: true },
    );
    expect(outcomes).toHaveLength(1);
    expect(runs).toBeGreaterThan(15);
  });
});
