import type { StreamStatements } from "../../src/store/streams/stream-statements.ts";
import type { StreamBook } from "../books/stream-book.ts";
import type { Wire } from "./wire.ts";

/** The statements of one process about streams: each goes over the wire, and into the book if it is committed. */
export function createStreamStatements(wire: Wire, streams: StreamStatements, book: StreamBook): StreamStatements {
  return {
    write: (lease, chunk) =>
      wire.call(
        `write chunk ${chunk.number} of ${JSON.stringify(chunk.stream)} for ${lease.lock}`,
        () => streams.write(lease, chunk),
        (held) => book.written(lease, chunk, held),
      ),
    read: async (ref, stream, number) => {
      let data: Uint8Array | null = null;
      const look = async () => {
        data = await streams.read(ref, stream, number);
        return data === null ? null : data.length;
      };
      await wire.call(`read chunk ${number} of ${JSON.stringify(stream)}`, look);
      return data;
    },
    wipe: (range) =>
      wire.call(
        `wipe streams of ${range.ref} from ${JSON.stringify(range.from)}`,
        () => streams.wipe(range),
        () => book.wiped(range),
      ),
    wipeRuns: (ref, before) =>
      wire.call(
        `wipe runs of ${ref} before ${before}`,
        () => streams.wipeRuns(ref, before),
        () => book.wipedRuns(ref, before),
      ),
  };
}
