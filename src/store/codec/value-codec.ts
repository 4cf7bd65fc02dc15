import type { Clock } from "../../clock.ts";
import { CodecError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { isThenable } from "../../schema.ts";
import {
  isEncoded,
  isFormerlyEncoded,
  refuseEncoded,
  toUnreadable,
  unwrapEncoded,
  wrapEncoded,
} from "../../values/encoded-text.ts";
import { ReadableCodecError } from "./aes-gcm.ts";
import type { Codec } from "./codec.ts";
import type { ValueLocation } from "./location.ts";

/** The same failure is logged once in this time, because a page of unreadable values would log it a hundred times. */
const QUIET_MS = 60_000;

/** A user's codec, as the store uses it: with a stored form that is recognised, and errors that say what they are. */
export class ValueCodec {
  readonly #codec: Codec;
  readonly #logger: Logger;
  readonly #clock: Clock;
  #logged = { message: "", at: 0 };

  constructor(codec: Codec, logger: Logger, clock: Clock) {
    this.#codec = codec;
    this.#logger = logger;
    this.#clock = clock;
  }

  /**
   * A promise only if the codec is asynchronous. An encoded text stays as it is: a trigger that was written in the
   * application's own transaction, and is relayed. Throws or rejects with CodecError.
   */
  encode(text: string, location: ValueLocation): string | Promise<string> {
    if (isEncoded(text)) return text;
    refuseEncoded(text); // it could not be read, and must not replace what is stored
    try {
      const encoded = this.#codec.encode(text, location.text);
      if (!isThenable(encoded)) return toStored(encoded);
      return encoded.then(toStored).catch((error: unknown) => this.#refuse(error, location));
    } catch (error) {
      return this.#refuse(error, location);
    }
  }

  async encodeOrNull(text: string | null, location: ValueLocation): Promise<string | null> {
    return text === null ? null : this.encode(text, location);
  }

  /**
   * Never rejects: a value that can't be read becomes a text that says so to the code that needs the value. A value that isn't
   * encoded was stored before there was a codec, and stays as it is.
   */
  async decode(text: string, location: ValueLocation): Promise<string> {
    if (!isEncoded(text)) return text;
    try {
      const boundTo = isFormerlyEncoded(text) ? location.former : location.text;
      const decoded: unknown = await this.#codec.decode(unwrapEncoded(text), boundTo);
      if (typeof decoded === "string") return decoded;
      throw new TypeError("decode gave no text");
    } catch (error) {
      return toUnreadable(this.#toCodecError(error, "read", location));
    }
  }

  async decodeOrNull(text: string | null, location: ValueLocation): Promise<string | null> {
    return text === null ? null : this.decode(text, location);
  }

  #refuse(error: unknown, location: ValueLocation): never {
    throw this.#toCodecError(error, "written", location);
  }

  /**
   * Readers see this error, also over HTTP, and it may be stored as the failure of the code that read the value. So it doesn't
   * repeat the codec's message, which may name a server or a key: only the log has it.
   */
  #toCodecError(error: unknown, deed: "read" | "written", location: ValueLocation): CodecError {
    if (error instanceof ReadableCodecError) return error;
    this.#log(error, deed, location);
    return new CodecError("codec.failed", `A value can't be ${deed}: the codec failed. The log says why.`);
  }

  #log(error: unknown, deed: "read" | "written", location: ValueLocation): void {
    const message = error instanceof Error ? error.message : String(error);
    const now = this.#clock.now();
    if (message === this.#logged.message && now - this.#logged.at < QUIET_MS) return;
    this.#logged = { message, at: now };
    this.#logger.error(`The codec failed: a value can't be ${deed}.`, { location: location.text, error });
  }
}

function toStored(encoded: unknown): string {
  if (typeof encoded === "string") return wrapEncoded(encoded);
  throw new TypeError("encode gave no text");
}
