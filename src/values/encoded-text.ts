import { CodecError } from "../errors.ts";

/**
 * What a codec makes of a stored value is stored as JSON, too, because the columns are. No value is stored like this without a
 * codec: an object with such a key of its own gets another tag in front (see tags.ts).
 */
const ENCODED = '{"$perdure":"encoded",';
/** With what the codec gave, bound to the whole place of the value. */
const BOUND = `${ENCODED}"bound":2,"value":`;
/** Of the first version, which bound values to less. */
const FORMERLY_BOUND = `${ENCODED}"value":`;
/** In memory only: a value that could not be turned back, and why. So one that can't be read spoils no other. */
const UNREADABLE = '{"$perdure":"unreadable",';
/** With which both begin, and most values don't. */
const TAGGED = '{"$perdure":"';

export function isEncoded(text: string): boolean {
  return text.startsWith(ENCODED);
}

/** Whether the first version wrote it. To claim so of another value is of no use: the codec is told another place, and refuses it. */
export function isFormerlyEncoded(text: string): boolean {
  return text.startsWith(FORMERLY_BOUND);
}

export function wrapEncoded(encoded: string): string {
  return `${BOUND}${JSON.stringify(encoded)}}`;
}

/** What the codec gave. Throws for text that was cut short. */
export function unwrapEncoded(text: string): string {
  const { value } = JSON.parse(text) as { value: unknown };
  if (typeof value !== "string") throw new TypeError("it isn't what a codec gave");
  return value;
}

export function toUnreadable({ code, message }: CodecError): string {
  return `${UNREADABLE}"code":${JSON.stringify(code)},"message":${JSON.stringify(message)}}`;
}

/** Throws CodecError for a text that a codec has made and that could not be turned back. Costs next to nothing for all others. */
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
 * What is shown of the values of one row of many, or a mark in their place: one row that can't be read spoils no page. Who
 * asks for that one alone gets the error.
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
