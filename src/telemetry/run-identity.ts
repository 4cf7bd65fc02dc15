import { hashWords } from "../hash.ts";

/** The ids of a run's trace and of its root: every process that sees the run finds the same. */
export function identityOf(ref: string, run: number): { readonly traceId: string; readonly spanId: string } {
  const text = `${ref}/${run}`;
  return { traceId: hex(`1/${text}`) + hex(`2/${text}`), spanId: hex(`root/${text}`) };
}

function hex(text: string): string {
  return hashWords(text)
    .map((word) => mix(word).toString(16).padStart(8, "0"))
    .join("");
}

/** Spreads the bits of a word: samplers decide by single bits of an id. An id is never zero, which would be invalid. */
function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0 || 1;
}
