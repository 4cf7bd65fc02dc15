import { systemClock, type Timer } from "../clock.ts";

export interface ServerSentEvent {
  readonly id: string;
  readonly data: string;
}

/** No server of Perdure sends a longer one. */
const LONGEST_EVENT = 256 * 1024 * 1024;
const LINE_END = /\r\n|\n|\r/g;
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * The events of a stream, parsed as the HTML standard says. Comments, which only keep the connection alive, are left out.
 * Throws if nothing arrives for `silenceMs`, not even a comment: then the connection is dead, though it looks open.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read(), silenceMs);
      if (done) return;
      yield* parser.take(decoder.decode(value, { stream: true }));
    }
  } finally {
    void reader.cancel().catch(() => {}); // not awaited: it may hang
  }
}

async function unlessSilent<Read>(reading: Promise<Read>, silenceMs: number): Promise<Read> {
  let timer: Timer | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    const error = new TypeError(`The stream was silent for ${silenceMs} ms.`);
    timer = systemClock.setTimer(() => reject(error), silenceMs);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    timer?.cancel();
  }
}

/** Takes text in pieces of any size. Each character is read once, however many pieces an event has. */
class EventParser {
  /** The beginning of a line whose end hasn't arrived. */
  #pieces: string[] = [];
  #data: string[] = [];
  #id = "";
  #length = 0;
  #started = false;
  /** Whether the last piece ended with a carriage return: a line feed that follows belongs to it. */
  #returned = false;

  *take(piece: string): Generator<ServerSentEvent, void> {
    const text = this.#withoutStart(piece);
    let start = 0;
    for (const { 0: end, index } of text.matchAll(LINE_END)) {
      const line = [...this.#pieces, text.slice(start, index)].join("");
      this.#pieces = [];
      start = index + end.length;
      const event = this.#takeLine(line);
      if (event !== null) yield event;
    }
    if (start < text.length) this.#pieces.push(text.slice(start));
    this.#length += text.length - start;
    if (this.#length > LONGEST_EVENT) throw new TypeError("An event is too long.");
  }

  #withoutStart(piece: string): string {
    if (piece === "") return piece;
    const skipped = this.#started ? this.#returned && piece.startsWith("\n") : piece.startsWith(BYTE_ORDER_MARK);
    this.#started = true;
    this.#returned = piece.endsWith("\r");
    return skipped ? piece.slice(1) : piece;
  }

  /** An empty line ends an event. An event without data is dropped, but its id applies to the events that follow. */
  #takeLine(line: string): ServerSentEvent | null {
    if (line !== "") {
      this.#takeField(line);
      return null;
    }
    const data = this.#data;
    this.#data = [];
    this.#length = 0;
    return data.length === 0 ? null : { id: this.#id, data: data.join("\n") };
  }

  #takeField(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") {
      this.#data.push(value);
      this.#length += value.length;
    } else if (name === "id" && !value.includes("\0")) {
      this.#id = value;
    }
  }
}
