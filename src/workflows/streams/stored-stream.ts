import { CodecError, PerdureError } from "../../errors.ts";
import { ChunkFormat } from "../../store/streams/chunk-format.ts";
import type { StreamReference } from "../../values/index.ts";
import { decodeText } from "./chunks.ts";

type ReadChunk = (number: number) => Promise<Uint8Array | null>;

/**
 * The result of a step whose body returned a stream: the same bytes, or the same text, read from the database on demand. Like
 * every stream it can be read once; `reopen` returns another one, from the beginning.
 */
export class StoredStream<Chunk = unknown> extends ReadableStream<Chunk> {
  /** The size of the stream. */
  readonly size: number;
  readonly #reference: StreamReference;
  readonly #read: ReadChunk;

  /** @internal */
  constructor(reference: StreamReference, read: ReadChunk) {
    let next = 0;
    const pull = async (controller: ReadableStreamDefaultController<Chunk>): Promise<void> => {
      if (next === reference.chunks) {
        controller.close();
        return;
      }
      const data = await read(next++);
      if (data === null) throw missing();
      if (data[0] === ChunkFormat.encoded) throw codecMissing();
      controller.enqueue((reference.kind === "text" ? decodeText(data) : data.slice(1)) as Chunk);
    };
    super({ pull }, { highWaterMark: 0 });
    this.size = reference.bytes;
    this.#reference = reference;
    this.#read = read;
  }

  reopen(): StoredStream<Chunk> {
    return new StoredStream(this.#reference, this.#read);
  }
}

function missing(): PerdureError {
  return new PerdureError("stream.missing", "The stream isn't stored any more: its instance was restarted or deleted.");
}

function codecMissing(): CodecError {
  return new CodecError(
    "codec.missing",
    "The stream was written with a codec, and this database was opened without one.",
  );
}
