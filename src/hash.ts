/**
 * Two different 32-bit hashes of a text. Always the same for a text, and not for secrets: texts with a known hash are easily
 * made.
 */
export function hashWords(text: string): readonly [high: number, low: number] {
  let high = 0x811c9dc5;
  let low = 0x1b873593;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193); // FNV-1a
    low = Math.imul(low ^ code, 0x85ebca6b) ^ (low >>> 13);
  }
  return [high >>> 0, low >>> 0];
}

/** A short stand-in for a text, in lower-case letters and digits. */
export function hashText(text: string): string {
  const [high, low] = hashWords(text);
  return high.toString(36) + low.toString(36);
}
