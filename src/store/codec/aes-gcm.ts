import { CodecError } from "../../errors.ts";
import { checkOptions, invalidOption } from "../../options.ts";
import { bytesOfBase64, toBase64 } from "../../values/bytes.ts";
import type { Codec } from "./codec.ts";

export interface AesGcmOptions {
  /**
   * By id: 16, 24 or 32 random bytes each, as bytes or in base64. Ids are stored with the encrypted values, and aren't secret.
   */
  readonly keys: Readonly<Record<string, string | Uint8Array>>;
  /** The id of the key that encrypts. The other keys only decrypt. */
  readonly current: string;
}

/** An error with a text of our own that reveals no secret: it may be shown to readers. */
export class ReadableCodecError extends CodecError {
  override readonly name = "CodecError";
}

const ALGORITHM = "AES-GCM";
const KEY_BYTES = [16, 24, 32];
const NONCE_BYTES = 12;
const KEY_ID = /^[A-Za-z0-9_.-]{1,64}$/;
/** The scheme, the key's id, and the nonce followed by the ciphertext, in base64. */
const STORED = /^aes-gcm:([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9+/=]+)$/;

/**
 * Encrypts stored values with AES-GCM, by the Web Cryptography API. Each value has a random nonce, and is bound to its
 * location: it can neither be changed nor moved unnoticed. To rotate keys, add one and make it `current`; keep the old ones for
 * as long as values that were encrypted with them are stored.
 *
 * @example
 * const codec = aesGcm({ keys: { "2026-01": process.env.DATA_KEY }, current: "2026-01" });
 * await using app = await perdure({ database: "app.db", codec, workflows });
 */
export function aesGcm(options: AesGcmOptions): Codec {
  checkOptions(options, { label: "aesGcm", fields: ["keys", "current"] });
  const keys = importKeys(options.keys);
  const { current } = options;
  const currentKey = typeof current === "string" ? keys.get(current) : undefined;
  if (currentKey === undefined)
    throw invalidOption(`current must be one of the ids of keys: ${[...keys.keys()].join(", ")}`);
  return {
    encode: async (text, location) => {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const algorithm = { name: ALGORITHM, iv, additionalData: boundTo(current, location) };
      const encrypted = await crypto.subtle.encrypt(algorithm, await currentKey(), new TextEncoder().encode(text));
      return `aes-gcm:${current}:${toBase64(joined(iv, new Uint8Array(encrypted)))}`;
    },
    decode: async (text, location) => {
      const [, id, data] = STORED.exec(text) ?? [];
      if (id === undefined || data === undefined) {
        throw new ReadableCodecError(
          "codec.refused",
          "A stored value was not written by aesGcm, or was changed since.",
        );
      }
      const key = keys.get(id);
      if (key === undefined) throw keyMissing(id, [...keys.keys()]);
      return decrypt(id, data, await key(), location);
    },
  };
}

async function decrypt(id: string, data: string, key: AesKey, location: string): Promise<string> {
  try {
    const bytes = bytesOfBase64(data);
    const algorithm = { name: ALGORITHM, iv: bytes.subarray(0, NONCE_BYTES), additionalData: boundTo(id, location) };
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(NONCE_BYTES)));
  } catch {
    throw new ReadableCodecError(
      "codec.refused",
      `A stored value can't be decrypted with the key "${id}": it was changed or moved in the database, or "${id}" isn't the key that it was written with.`,
    );
  }
}

/** The types of some runtimes lack it. */
type AesKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
type KeyImport = () => Promise<AesKey>;

function importKeys(keys: unknown): Map<string, KeyImport> {
  if (typeof keys !== "object" || keys === null || Array.isArray(keys))
    throw invalidOption("keys must be an object: { id: key }");
  const entries = Object.entries(keys);
  if (entries.length === 0) throw invalidOption("keys must have a key");
  return new Map(entries.map(([id, key]) => [checkKeyId(id), importOnce(bytesOfKey(id, key))]));
}

function importOnce(bytes: Uint8Array<ArrayBuffer>): KeyImport {
  let imported: Promise<AesKey> | undefined;
  return () => {
    imported ??= crypto.subtle.importKey("raw", bytes, ALGORITHM, false, ["encrypt", "decrypt"]);
    return imported;
  };
}

function checkKeyId(id: string): string {
  if (KEY_ID.test(id)) return id;
  throw invalidOption("The id of a key must be 1 to 64 letters, digits and . _ -");
}

/** A copy, so that the caller can't change it later. Never shown in an error. */
function bytesOfKey(id: string, key: unknown): Uint8Array<ArrayBuffer> {
  const bytes =
    key instanceof Uint8Array ? Uint8Array.from(key) : typeof key === "string" ? readBase64(key) : undefined;
  if (bytes !== undefined && KEY_BYTES.includes(bytes.length)) return bytes;
  throw invalidOption(`The key "${id}" must be 16, 24 or 32 bytes, as a Uint8Array or in base64`);
}

function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return bytesOfBase64(text);
  } catch {
    return undefined;
  }
}

function boundTo(id: string, location: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(`aes-gcm:${id}:${location}`));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

function keyMissing(id: string, known: readonly string[]): ReadableCodecError {
  return new ReadableCodecError(
    "codec.key_missing",
    `A stored value was written with the key "${id}", which aesGcm wasn't given; it has ${known.join(", ")}. Add it to keys: old keys are needed until nothing is stored any more that was written with them.`,
  );
}
