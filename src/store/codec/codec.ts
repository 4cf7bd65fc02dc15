import { InvalidInputError } from "../../errors.ts";

/**
 * Turns users' values into another text before they are written, and back when they are read, usually to encrypt them. Both may
 * be asynchronous. A synchronous transaction of the application can't wait, and needs a synchronous codec.
 *
 * `location` names the value's field and owner, and is the same when it is read. An encrypting codec binds the
 * text to it, so that a value that was moved to another location is refused.
 */
export interface Codec {
  encode(text: string, location: string): string | Promise<string>;
  /** Throws or rejects for a text that `encode` didn't return. */
  decode(text: string, location: string): string | Promise<string>;
}

export function checkCodec(codec: unknown): Codec | null {
  if (codec === undefined) return null;
  const { encode, decode } = (codec ?? {}) as Record<string, unknown>;
  if (typeof encode === "function" && typeof decode === "function") return codec as Codec;
  throw new InvalidInputError("options.invalid", "codec must have the methods encode and decode.");
}
