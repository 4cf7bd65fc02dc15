/** Three of these are more than two chunks of the database, and no whole number of them. */
const PIECE_CHARACTERS = 90_000;
export const PIECES = 3;

/**
 * One piece of the stream of a step: whose it is, and enough text to fill chunks. Each call of the function returns another
 * text.
 */
export function pour(key: string, call: string, piece: number): string {
  return piece === 1 ? `${key} ${call} `.padEnd(PIECE_CHARACTERS, filler(call)) : filler(call).repeat(PIECE_CHARACTERS);
}

/** Whose stream it is; null if it isn't one, from its beginning to its end. */
export function readPoured(text: string): { key: string; call: string } | null {
  const match = /^(.+) (\d+) ([a-z])\3*$/.exec(text);
  const [, key, call, letter] = match ?? [];
  if (key === undefined || call === undefined || letter !== filler(call)) return null;
  return text.length === PIECES * PIECE_CHARACTERS ? { key, call } : null;
}

function filler(call: string): string {
  return String.fromCharCode(97 + (Number(call) % 26));
}
