import { decodeValue, encodeValue } from "../values/index.ts";
import type { WorkflowInstanceEvent } from "../workflows/views/instance-event.ts";
import { restoreClass } from "./shard-call.ts";

/**
 * The lines of an object's event stream: first the position where it begins, so that a reader that loses it can ask for the
 * same again; then events; then the end or the error. A stream without a last line was cut off.
 */
export type StreamLine =
  | { readonly opened: number }
  | { readonly event: WorkflowInstanceEvent }
  | { readonly error: unknown }
  | { readonly end: true };

export function encodeLine(line: StreamLine): Uint8Array {
  return new TextEncoder().encode(`${encodeValue(line, { label: "event" })}\n`);
}

function decodeLine(text: string): StreamLine {
  const line = decodeValue(text) as StreamLine;
  return "error" in line ? { error: restoreClass(line.error) } : line;
}

/** Reads a stream line by line. */
export class LineReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #lines: string[] = [];
  #rest = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Null at the end. */
  async next(): Promise<StreamLine | null> {
    while (this.#lines.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#lines = (this.#rest + this.#decoder.decode(value, { stream: true })).split("\n");
      this.#rest = this.#lines.pop() as string;
    }
    return decodeLine(this.#lines.shift() as string);
  }

  /** Also ends a read that is under way. */
  cancel(): void {
    this.#reader.cancel().catch(() => {});
  }
}
