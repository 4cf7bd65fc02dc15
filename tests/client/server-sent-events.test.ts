import { afterEach, describe, expect, test, vi } from "vitest";
import { readServerSentEvents } from "../../src/client/server-sent-events.ts";
import { useFakeTime } from "../support/fake-time.ts";

const SILENCE_MS = 60_000;

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
}

/** In pieces of so many bytes. */
async function read(text: string, size: number) {
  const bytes = new TextEncoder().encode(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );
  return Array.fromAsync(readServerSentEvents(streamOf(chunks), SILENCE_MS));
}

const SAMPLES: readonly [string, string, readonly { id: string; data: string }[]][] = [
  [
    "line feeds",
    "id: 1\ndata: one\n\nid: 2\ndata: two\n\n",
    [
      { id: "1", data: "one" },
      { id: "2", data: "two" },
    ],
  ],
  [
    "both",
    "id: 1\r\ndata: one\r\n\r\nid: 2\r\ndata: two\r\n\r\n",
    [
      { id: "1", data: "one" },
      { id: "2", data: "two" },
    ],
  ],
  ["both, and several lines of data", "id: 1\r\ndata: one\r\ndata: two\r\n\r\n", [{ id: "1", data: "one\ntwo" }]],
  [
    "carriage returns",
    "id: 1\rdata: one\r\rdata: two\r\r",
    [
      { id: "1", data: "one" },
      { id: "1", data: "two" },
    ],
  ],
  ["no space after colons", "id:1\ndata:one\ndata: two\ndata:  three\n\n", [{ id: "1", data: "one\ntwo\n three" }]],
  ["a byte order mark and comments", "\uFEFF: hi\n\n:\nid: 1\n: x\ndata: ä€😀\n\n", [{ id: "1", data: "ä€😀" }]],
  [
    "fields without a value",
    "data\n\ndata\ndata\n\nid\ndata: x\n\n",
    [
      { id: "", data: "" },
      { id: "", data: "\n" },
      { id: "", data: "x" },
    ],
  ],
  ["an end that is missing", "data: one\n\ndata: two\n", [{ id: "", data: "one" }]],
];

describe("a stream of Server-Sent Events", () => {
  afterEach(() => void vi.useRealTimers());

  test.each(SAMPLES)("with %s is read, in whatever pieces it comes", async (_, text, events) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(await read(text, size)).toEqual(events);
  });

  test("is read in time linear in its length", async () => {
    const data = "x".repeat(8 * 1024 * 1024);
    const scanned = vi.spyOn(String.prototype, "matchAll");
    const events = await read(`id: 1\ndata: ${data}\n\n`, 16 * 1024);
    const characters = scanned.mock.contexts.reduce((sum: number, text) => sum + String(text).length, 0);
    scanned.mockRestore();

    expect(events[0]?.data.length).toBe(data.length);
    expect(characters).toBeLessThan(2 * data.length);
  });

  test("that is silent for too long is given up, and one with comments isn't", async () => {
    useFakeTime();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const stream = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
      },
    });
    const next = readServerSentEvents(stream, SILENCE_MS).next();
    const outcome = next.then(
      () => "read",
      (error: Error) => error.message,
    );
    for (let beats = 0; beats < 3; beats++) {
      await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
      controller?.enqueue(new TextEncoder().encode(": waiting\n\n"));
    }
    expect(await Promise.race([outcome, Promise.resolve("waiting")])).toBe("waiting");

    await vi.advanceTimersByTimeAsync(SILENCE_MS + 1);

    expect(await outcome).toContain("silent");
  });
});
