import { CodecError } from "../errors.ts";

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
