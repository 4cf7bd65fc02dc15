import { isPlainJson } from "./plain-json.ts";
import { Refusal, refuseSize, refuseUnreadable } from "./refusal.ts";
import { MAX_BYTES, MAX_LEVELS } from "./tags.ts";
import { ValueWriter } from "./writer.ts";

export interface EncodeOptions {
  /** The name of the value in errors: `payload` gives "payload.items[3] is …". Default "value". */
  readonly label?: string;
  /** The longest text allowed, in bytes of UTF-8. Default 256 MiB. */
  readonly maxBytes?: number;
}

/**
 * Returns the JSON text that a value is stored as; `decodeValue` gives the value back as it was. A value of plain JSON becomes
 * exactly JSON.stringify's text, unless it has the reserved key `$perdure`.
 *
 * Not kept, because it isn't data: symbol keys, non-enumerable properties, named properties of arrays, a RegExp's `lastIndex`,
 * null prototypes (they come back as plain objects), the class of a user's own errors (the nearest built-in one, with the same
 * name), and that two places held the very same object. Getters are stored as what they give.
 *
 * Throws InvalidInputError `value.unsupported`, `value.cycle`, `value.too_deep` or `value.too_large`, naming the path.
 */
export function encodeValue(value: unknown, options: EncodeOptions = {}): string {
  const { label = "value", maxBytes = MAX_BYTES } = options;
  const text = encodePlain(value, maxBytes) ?? encodeSpecial(value, label, maxBytes);
  if (exceeds(text, maxBytes)) throw refuseSize(maxBytes).toInvalidInput(label, []);
  return text;
}

function encodePlain(value: unknown, maxBytes: number): string | undefined {
  try {
    return isPlainJson(value, maxBytes) ? JSON.stringify(value) : undefined;
  } catch {
    return undefined; // an accessor or a proxy threw: the writer will say where
  }
}

function encodeSpecial(value: unknown, label: string, maxBytes: number): string {
  const writer = new ValueWriter({ label, maxBytes, maxLevels: MAX_LEVELS, lenient: false });
  try {
    writer.write(value, 1);
  } catch (error) {
    const refusal = error instanceof Refusal ? error : refuseUnreadable(error);
    throw refusal.toInvalidInput(label, writer.path);
  }
  return writer.text;
}

/** In bytes of UTF-8, and counted only where the length in UTF-16 leaves it open. */
export function exceeds(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  if (text.length * 3 <= maxBytes) return false;
  return new TextEncoder().encode(text).length > maxBytes;
}
