import { InvalidInputError } from "./errors.ts";

/** A cursor is the id of a page's last row, encoded so that callers treat it as opaque. */
export function encodeCursor(id: string): string {
  const bytes = new TextEncoder().encode(id);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

export function decodeCursor(cursor: unknown): string {
  try {
    if (typeof cursor !== "string" || cursor.length > 2000) throw new Error();
    const bytes = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const id = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(
      Uint8Array.from(bytes, (character) => character.charCodeAt(0)),
    );
    if (id === "" || encodeCursor(id) !== cursor || id.includes("\0")) throw new Error();
    return id;
  } catch {
    throw new InvalidInputError("cursor.invalid", "The cursor isn't one of this list.");
  }
}
