import { bytesOfBase64, toBase64 } from "../../values/bytes.ts";
import { decodeValue } from "../../values/index.ts";
import type { InstanceLease } from "../instances/instance-records.ts";
import { ChunkFormat } from "../streams/chunk-format.ts";
import type { StreamChunk, StreamRange } from "../streams/stream-records.ts";
import type { StreamStatements } from "../streams/stream-statements.ts";
import { locationOfChunk } from "./location.ts";
import type { ValueCodec } from "./value-codec.ts";

/** Streams with every chunk encoded. A codec takes text, so a chunk goes through it in base64. */
export class CodecStreamStatements implements StreamStatements {
  readonly #inner: StreamStatements;
  readonly #codec: ValueCodec;

  constructor(inner: StreamStatements, codec: ValueCodec) {
    this.#inner = inner;
    this.#codec = codec;
  }

  async write(lease: InstanceLease, chunk: StreamChunk): Promise<boolean> {
    const text = JSON.stringify(toBase64(chunk.data));
    const encoded = new TextEncoder().encode(await this.#codec.encode(text, locationOfChunk(lease.ref, chunk)));
    const data = new Uint8Array(encoded.length + 1);
    data[0] = ChunkFormat.encoded;
    data.set(encoded, 1);
    return this.#inner.write(lease, { ...chunk, data });
  }

  /** A chunk that isn't encoded was written before the application had a codec. */
  async read(ref: string, stream: string, number: number): Promise<Uint8Array | null> {
    const data = await this.#inner.read(ref, stream, number);
    if (data === null || data[0] !== ChunkFormat.encoded) return data;
    const encoded = new TextDecoder().decode(data.subarray(1));
    const text = await this.#codec.decode(encoded, locationOfChunk(ref, { stream, number }));
    return bytesOfBase64(decodeValue(text) as string);
  }

  wipe(range: StreamRange): Promise<void> {
    return this.#inner.wipe(range);
  }

  wipeRuns(ref: string, before: number): Promise<void> {
    return this.#inner.wipeRuns(ref, before);
  }
}
