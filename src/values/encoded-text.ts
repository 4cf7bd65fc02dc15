import { CodecError } from "../errors.ts";

/**
 * The encoded form of a value is stored as JSON too, because the columns are JSON. No value without a codec is stored like
 * this: an object with such a key of its own gets another tag around it (see tags.ts).
 */
const ENCODED = '{"$perdure":"encoded",';
/** Marks a value that the codec encoded, bound to its whole location. */
const BOUND = `${ENCODED}"bound":2,"value":`;
/** Marks a value of the first version, which bound values to fewer parts of their location. */
const FORMERLY_BOUND = `${ENCODED}"value":`;
/** In memory only: marks a value that could not be decoded, and says why, so that other values can still be read. */
const UNREADABLE = '{"$perdure":"unreadable",';
/** The beginning of both, which most values don't have. */
const TAGGED = '{"$perdure":"';

export function isEncoded(text: string): boolean {
  return text.startsWith(ENCODED);
}

/**
 * Whether the first version wrote it. Marking another value like this is useless: the codec gets another location and refuses
 * it.
 */
export function isFormerlyEncoded(text: string): boolean {
  return text.startsWith(FORMERLY_BOUND);
}

export function wrapEncoded(encoded: string): string {
  return `${BOUND}${JSON.stringify(encoded)}}`;
}

/** The codec's output. Throws for text that was cut short. */
export function unwrapEncoded(text: string): string {
  const { value } = JSON.parse(text) as { value: unknown };
  if (typeof value !== "string") throw new TypeError("it isn't the output of a codec");
  return value;
}

export function toUnreadable({ code, message }: CodecError): string {
  return `${UNREADABLE}"code":${JSON.stringify(code)},"message":${JSON.stringify(message)}}`;
}

/** Throws CodecError for an encoded text that could not be decoded. Costs next to nothing for other texts. */
export function refuseEncoded(text: string): void {
  if (!text.startsWith(TAGGED)) return;
  if (text.startsWith(UNREADABLE)) {
    const { code, message } = JSON.parse(text) as { code: string; message: string };
    throw new CodecError(code, message);
  }
  if (!isEncoded(text)) return;
  throw new CodecError(
    "codec.missing",
    "A stored value was written with a codec, and this database was opened without one. Give sqlite(...), postgres(...) or " +
      "perdure({ codec }) the codec that it was written with.",
  );
}

/** Why the values of a row can't be shown: neither this version nor the codec can read them. */
export interface Unreadable {
  readonly code: string;
  readonly message: string;
}

/**
 * The shown values of one row of a page, or a mark in their place, so that one unreadable row doesn't spoil the page. A caller
 * that reads that row alone gets the error.
 */
export function shownOrUnreadable<Shown extends object>(
  read: () => Shown,
): Shown | { readonly unreadable: Unreadable } {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    const { code, message } = error;
    return { unreadable: { code, message } };
  }
}
