import { hashWords } from "../hash.ts";
import { checkId } from "../names.ts";
import { invalidOption } from "../options.ts";
import { decodeAnswer, encodeCall, type ShardCall } from "./shard-call.ts";

/** The binding of a Durable Object, taken structurally. */
export interface ObjectNamespace {
  idFromName(name: string): unknown;
  get(id: never): unknown;
}

/** The calls that an object made by `PerdureObject.of` answers. */
interface ObjectStub {
  perdureCall(call: string): Promise<string>;
  perdureSubscribe(call: string): Promise<ReadableStream<Uint8Array>>;
}

/** Calls that only read can be repeated. */
const READS = new Set(["exists", "status", "result", "history", "list", "counts", "versions", "readToken"]);
const MOST_ATTEMPTS = 4;

/** A number of objects, among which ids are divided. */
export class Shards {
  readonly all: readonly number[];
  readonly #objects: ObjectNamespace;
  readonly #prefix: string;
  readonly #longestId: number;

  constructor(objects: ObjectNamespace, prefix: string, count: number, longestId: number) {
    if (typeof objects?.idFromName !== "function" || typeof objects.get !== "function") {
      throw invalidOption("objects must be the binding of a Durable Object");
    }
    if (!Number.isInteger(count) || count < 1 || count > 1000)
      throw invalidOption("shards must be a whole number from 1 to 1000");
    if (typeof prefix !== "string" || prefix === "") throw invalidOption("prefix must be a text");
    this.#objects = objects;
    this.#prefix = prefix;
    this.#longestId = longestId;
    this.all = Array.from({ length: count }, (_, shard) => shard);
  }

  /** The shard of an id: the same in every Worker. */
  of(id: string): number {
    const [hash] = hashWords(checkId(id, "The id of an instance", this.#longestId));
    return ((hash ^ (hash >>> 16)) >>> 0) % this.all.length;
  }

  /** An object may be moved or restarted under a call: what only reads is asked again. */
  async call(shard: number, call: ShardCall): Promise<unknown> {
    const text = encodeCall(call);
    for (let attempt = 1; ; attempt++) {
      try {
        return decodeAnswer(await this.#stub(shard).perdureCall(text));
      } catch (error) {
        const again = READS.has(call.operation) && Reflect.get(Object(error), "retryable") === true;
        if (!again || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  /** A stream of lines; see `StreamLine`. */
  subscribe(shard: number, call: ShardCall): Promise<ReadableStream<Uint8Array>> {
    return this.#stub(shard).perdureSubscribe(encodeCall(call));
  }

  /** A new one each time: one whose object was lost can't be used again. */
  #stub(shard: number): ObjectStub {
    const id = this.#objects.idFromName(`${this.#prefix}-${shard}`);
    return this.#objects.get(id as never) as ObjectStub;
  }
}
