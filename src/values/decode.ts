import { UnreadableValueError } from "../errors.ts";
import { refuseEncoded } from "./encoded-text.ts";
import { revive } from "./revive.ts";
import { TAG_IN_TEXT } from "./tags.ts";

/**
 * Gives back the value that `encodeValue` or `encodeError` made the text of. Only builds what a fixed list names: no text can
 * choose a constructor or change a prototype. Text that neither could have written throws UnreadableValueError
 * `value.corrupt`; what a codec has made, and nobody has turned back, throws CodecError, of which the former is one.
 */
export function decodeValue(text: string): unknown {
  if (typeof text === "string") refuseEncoded(text);
  try {
    const parsed: unknown = JSON.parse(text);
    return text.includes(TAG_IN_TEXT) ? revive(parsed, 1) : parsed;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UnreadableValueError(
      "value.corrupt",
      `A stored value can't be read: ${why}. It was cut short, changed by hand, or written by a newer version of Perdure.`,
      { cause },
    );
  }
}
