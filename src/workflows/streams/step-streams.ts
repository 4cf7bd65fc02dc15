import { StoreError } from "../../errors.ts";
import type { InstanceLease } from "../../store/instances/instance-records.ts";
import type { Store } from "../../store/store.ts";
import type { StreamRange } from "../../store/streams/stream-records.ts";
import { StreamReference } from "../../values/index.ts";
import type { Attempt } from "../execution/attempt.ts";
import { pathOf, type StepIdentity } from "../execution/steps/step-path.ts";
import { Chunker, StreamRefusedError } from "./chunks.ts";
import { StoredStream } from "./stored-stream.ts";

/** The database failed while a step's stream was being stored (see `cause`), or the instance was lost. */
export class StreamLostError extends Error {}

/** The streams that steps return: stored in chunks as they are read, and read again chunk by chunk. */
export class StepStreams {
  readonly #store: Store;
  readonly #maxBytes: number;

  constructor(store: Store, maxBytes: number) {
    this.#store = store;
    this.#maxBytes = maxBytes;
  }

  /**
   * Stores a stream to its end, and returns its reference. Keeps one chunk in memory. Deletes the chunks of other attempts
   * before the first write, and its own if it fails.
   */
  async keep(attempt: Attempt, lease: InstanceLease, stream: ReadableStream<unknown>): Promise<StreamReference> {
    const { call } = attempt;
    const signal = attempt.signal();
    if (stream.locked) throw locked();
    const reader = stream.getReader();
    const stop = () => void reader.cancel(signal.reason).catch(() => {});
    signal.addEventListener("abort", stop);
    const id = `${beginningOf(lease.run, call)}${this.#store.createId()}`;
    try {
      return await this.#write(reader, lease, { call, id, isOver: () => signal.aborted });
    } catch (error) {
      reader.cancel(error).catch(() => {});
      this.#wipe({ ref: lease.ref, from: id, below: `${id}\n`, except: null }).catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /**
   * Opens a stored stream for the workflow's code. If the database fails during a read, `onFailure` is called instead of the
   * code: the instance doesn't fail, but is taken over and reads again.
   */
  open(ref: string, reference: StreamReference, onFailure: (error: StoreError) => void): StoredStream {
    const read = async (number: number): Promise<Uint8Array | null> => {
      try {
        return await this.#store.streams.statements.read(ref, reference.id, number);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        onFailure(error);
        return new Promise(() => {});
      }
    };
    return new StoredStream(reference, read);
  }

  async #write(
    reader: ReadableStreamDefaultReader<unknown>,
    lease: InstanceLease,
    { call, id, isOver }: { call: StepIdentity; id: string; isOver: () => boolean },
  ): Promise<StreamReference> {
    const chunker = new Chunker();
    let bytes = 0;
    let chunks = 0;
    const write = async (data: Uint8Array) => {
      if (isOver()) throw new StreamLostError("The attempt is over.");
      bytes += data.length - 1; // without the format
      if (bytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
      if (chunks === 0) await this.#wipeOthers(lease, call, id);
      await this.#writeChunk(lease, { stream: id, number: chunks++, data });
    };
    for (;;) {
      const { done, value } = await reader.read();
      for (const data of done ? chunker.end() : chunker.add(value)) await write(data);
      if (done) return new StreamReference({ id, kind: chunker.kind ?? "bytes", bytes, chunks });
    }
  }

  async #writeChunk(lease: InstanceLease, chunk: { stream: string; number: number; data: Uint8Array }): Promise<void> {
    const held = await this.#store.streams.write(lease, chunk).catch((cause: unknown) => {
      throw new StreamLostError("The database failed.", { cause });
    });
    if (!held) throw new StreamLostError("The instance has another owner.");
  }

  async #wipeOthers(lease: InstanceLease, call: StepIdentity, id: string): Promise<void> {
    const from = beginningOf(lease.run, call);
    const below = `${from.slice(0, -1)}\v`; // the character after the line feed
    await this.#wipe({ ref: lease.ref, from, below, except: id, lease }).catch((cause: unknown) => {
      throw new StreamLostError("The database failed.", { cause });
    });
  }

  #wipe(range: StreamRange): Promise<void> {
    return this.#store.streams.statements.wipe(range);
  }
}

/** A stream's name begins with its run and its step. Step names have no line feeds. */
function beginningOf(run: number, step: StepIdentity): string {
  return `${run}\n${pathOf(step)}\n`;
}

function locked(): StreamRefusedError {
  return new StreamRefusedError(
    "stream.invalid",
    "A step returned a locked stream: it is being read, or was piped elsewhere. Return a stream that nothing has read from.",
  );
}

function tooLarge(maxBytes: number): StreamRefusedError {
  return new StreamRefusedError(
    "stream.too_large",
    `A step's stream may have at most ${maxBytes} bytes. Raise workflowLimits.streamBytes.`,
  );
}
