import { CodecError } from "../../errors.ts";
import { isThenable } from "../../schema.ts";
import { isEncoded, refuseEncoded, toUnreadable, unwrapEncoded, wrapEncoded } from "../../values/encoded-text.ts";
import type { Codec } from "./codec.ts";

/** Names a field and what it belongs to, in a text that no other has. */
export function placeOf(field: string, ...owner: readonly string[]): string {
  return JSON.stringify([field, ...owner]);
}

/** A user's codec, as the store uses it: with a stored form that is recognised, and errors that say what they are. */
export class ValueCodec {
  readonly #codec: Codec;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /**
   * A promise only if the codec is asynchronous. What is encoded already stays as it is: a trigger that was written into the
   * application's own transaction, and is relayed. Throws or rejects with CodecError.
   */
  encode(text: string, place: string): string | Promise<string> {
    if (isEncoded(text)) return text;
    refuseEncoded(text); // it could not be read, and must not replace what is stored
    try {
      const encoded = this.#codec.encode(text, place);
      return isThenable(encoded) ? encoded.then(toStored, refuseEncode) : toStored(encoded);
    } catch (error) {
      return refuseEncode(error);
    }
  }

  async encodeOrNull(text: string | null, place: string): Promise<string | null> {
    return text === null ? null : this.encode(text, place);
  }

  /**
   * Never rejects: what can't be read is given as a text that says so to whoever needs the value. What isn't encoded is from before
   * the codec, and stays as it is.
   */
  async decode(text: string, place: string): Promise<string> {
    if (!isEncoded(text)) return text;
    try {
      const decoded: unknown = await this.#codec.decode(unwrapEncoded(text), place);
      if (typeof decoded === "string") return decoded;
      throw new TypeError("decode gave no text");
    } catch (error) {
      return toUnreadable(toCodecError(error, "read"));
    }
  }

  async decodeOrNull(text: string | null, place: string): Promise<string | null> {
    return text === null ? null : this.decode(text, place);
  }
}

function toStored(encoded: unknown): string {
  if (typeof encoded === "string") return wrapEncoded(encoded);
  throw toCodecError(new TypeError("encode gave no text"), "written");
}

function refuseEncode(error: unknown): never {
  throw toCodecError(error, "written");
}

function toCodecError(error: unknown, deed: "read" | "written"): CodecError {
  if (error instanceof CodecError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new CodecError("codec.failed", `A value can't be ${deed}: the codec failed. ${why}`, { cause: error });
}
