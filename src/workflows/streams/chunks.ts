import { InvalidInputError } from "../../errors.ts";
import { ChunkFormat } from "../../store/streams/chunk-format.ts";

/** The size of a row: smaller pieces are joined, larger ones divided. */
const CHUNK_BYTES: number = 256 * 1024;
/** Text is divided into pieces of this many characters, which fit into a few chunks. */
const CHUNK_CHARACTERS = CHUNK_BYTES / 2;

/** The value can't be stored as a stream; another attempt would return the same. */
export class StreamRefusedError extends InvalidInputError {}

/** Divides a stream into chunks of about one size, each with its format in front. */
export class Chunker {
  /** Unknown until the first piece. */
  kind: "bytes" | "text" | null = null;
  #parts: Uint8Array[] = [];
  #size = 0;
  #text = "";

  /** Returns the chunks that are full. */
  add(piece: unknown): Uint8Array[] {
    if (typeof piece === "string") return this.#addText(piece);
    if (ArrayBuffer.isView(piece))
      return this.#addBytes(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
    if (piece instanceof ArrayBuffer) return this.#addBytes(new Uint8Array(piece));
    throw new StreamRefusedError(
      "stream.invalid",
      "A step's stream must have only Uint8Arrays or other bytes, or only strings.",
    );
  }

  /** Returns the rest. */
  end(): Uint8Array[] {
    if (this.#text !== "") return [encodeText(this.#text)];
    return this.#size > 0 ? [this.#join()] : [];
  }

  #addText(text: string): Uint8Array[] {
    this.#expect("text");
    this.#text += text;
    const full: Uint8Array[] = [];
    while (this.#text.length > CHUNK_CHARACTERS) {
      // Keeps surrogate pairs together.
      const cut = isHighSurrogate(this.#text, CHUNK_CHARACTERS - 1) ? CHUNK_CHARACTERS - 1 : CHUNK_CHARACTERS;
      full.push(encodeText(this.#text.slice(0, cut)));
      this.#text = this.#text.slice(cut);
    }
    return full;
  }

  #addBytes(bytes: Uint8Array): Uint8Array[] {
    this.#expect("bytes");
    const full: Uint8Array[] = [];
    for (let start = 0; start < bytes.length; ) {
      const part = bytes.slice(start, start + CHUNK_BYTES - this.#size); // a copy: its owner may use the memory again
      this.#parts.push(part);
      this.#size += part.length;
      start += part.length;
      if (this.#size === CHUNK_BYTES) full.push(this.#join());
    }
    return full;
  }

  #join(): Uint8Array {
    const joined = new Uint8Array(this.#size + 1);
    joined[0] = ChunkFormat.plain;
    let end = 1;
    for (const part of this.#parts) {
      joined.set(part, end);
      end += part.length;
    }
    this.#parts = [];
    this.#size = 0;
    return joined;
  }

  #expect(kind: "bytes" | "text"): void {
    this.kind ??= kind;
    if (this.kind === kind) return;
    throw new StreamRefusedError("stream.invalid", "A step's stream must have Uint8Arrays or strings, but not both.");
  }
}

function isHighSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xd800 && code <= 0xdbff;
}

/** Text as a chunk. Text that isn't well-formed, because of a lone surrogate, is kept as UTF-16. */
function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) {
    const encoded = new TextEncoder().encode(text);
    const chunk = new Uint8Array(encoded.length + 1);
    chunk[0] = ChunkFormat.plain;
    chunk.set(encoded, 1);
    return chunk;
  }
  const chunk = new Uint8Array(text.length * 2 + 1);
  chunk[0] = ChunkFormat.utf16;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    chunk[index * 2 + 1] = code & 0xff;
    chunk[index * 2 + 2] = code >> 8;
  }
  return chunk;
}

export function decodeText(chunk: Uint8Array): string {
  if (chunk[0] !== ChunkFormat.utf16)
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(chunk.subarray(1));
  let text = "";
  for (let index = 1; index < chunk.length; index += 2) {
    text += String.fromCharCode((chunk[index] as number) | ((chunk[index + 1] as number) << 8));
  }
  return text;
}
