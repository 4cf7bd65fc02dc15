/**
 * The wire format, in short. A value is stored as JSON text, and plain JSON is stored as itself. A value that JSON doesn't have
 * is an object with the key `$perdure`, whose value names the kind:
 *
 *     {"$perdure":"undefined"}
 *     {"$perdure":"number","value":"-0"}                        also NaN, Infinity, -Infinity
 *     {"$perdure":"bigint","value":"12"}
 *     {"$perdure":"Date","value":"2024-01-01T00:00:00.000Z"}    null when the date is invalid
 *     {"$perdure":"RegExp","source":"a+","flags":"gi"}
 *     {"$perdure":"Map","value":[[key,value],…]}
 *     {"$perdure":"Set","value":[…]}
 *     {"$perdure":"Uint8Array","value":"base64"}                also other typed arrays, Buffer, DataView, ArrayBuffer
 *     {"$perdure":"TypeError","name":…,"message":…,"stack":…}   also cause, errors, error, suppressed, properties
 *     {"$perdure":"array","length":3,"value":{"0":…,"2":…}}     an array with holes
 *     {"$perdure":"object","value":{"$perdure":…}}              an object that has such a key itself
 *     {"$perdure":"stream","id":…,"kind":"bytes","bytes":9,"chunks":1}   stands for a stream of a step
 *     {"$perdure":"sensitive","value":…}                        around a value that is hidden from people
 *     {"$perdure":"unchecked","value":…}                        around a value that SQL gave: no schema has checked it yet
 *     {"$perdure":"caused","by":["do:pay#1"],"value":…}         around an error, with the steps that made code throw it
 *     {"$perdure":"delayed","ms":1000,"of":5,"value":…}         around an error after which a retry comes later
 *
 * Names in lower case are the language's own types, the others are classes.
 */
export const TAG = "$perdure";

/** How the key looks in JSON text. Text without it has nothing to revive. */
export const TAG_IN_TEXT: string = JSON.stringify(TAG);

/**
 * Levels of JSON that a stored value may have. SQLite's JSON functions stop at 1000, and recursion should never be near its
 * end.
 */
export const MAX_LEVELS = 500;

/** The default limit. Not far above it, runtimes and databases fail with obscure errors. */
export const MAX_BYTES: number = 256 * 1024 * 1024;

/** Stored in place of a stream: where its chunks are, and how large it is. */
export class StreamReference {
  readonly id: string;
  /** Whether it was a stream of bytes or of values. */
  readonly kind: "bytes" | "text";
  readonly bytes: number;
  readonly chunks: number;

  constructor({ id, kind, bytes, chunks }: Pick<StreamReference, "id" | "kind" | "bytes" | "chunks">) {
    this.id = id;
    this.kind = kind;
    this.bytes = bytes;
    this.chunks = chunks;
  }

  /** As it is stored. */
  get text(): string {
    const { id, kind, bytes, chunks } = this;
    return JSON.stringify({ [TAG]: "stream", id, kind, bytes, chunks });
  }
}
