import { InvalidInputError } from "../../errors.ts";

/**
 * Turns what users stored into another text before it is written, and back when it is read: to encrypt it, most of all. Both may be
 * asynchronous. A synchronous transaction of the application's can't wait, and needs a codec that isn't.
 *
 * `location` says which field it is and what it belongs to, and is the same when it is read. An encrypting codec binds the
 * text to it, so that a value that was moved to another location is refused.
 */
export interface Codec {
  encode(text: string, location: string): string | Promise<string>;
  /** Throws or rejects for a text that `encode` hasn't made. */
  decode(text: string, location: string): string | Promise<string>;
}

export function checkCodec(codec: unknown): Codec | null {
  if (codec === undefined) return null;
  const { encode, decode } = (codec ?? {}) as Record<string, unknown>;
  if (typeof encode === "function" && typeof decode === "function") return codec as Codec;
  throw new InvalidInputError("options.invalid", "codec must have the methods encode and decode.");
}
