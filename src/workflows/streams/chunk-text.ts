import { ChunkFormat } from "../../store/streams/chunk-format.ts";

/** Text as a chunk. What isn't well-formed, because a surrogate stands alone, is kept as it is in UTF-16. */
export function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) {
    const encoded = new TextEncoder().encode(text);
    const chunk = new Uint8Array(encoded.length + 1);
    chunk[0] = ChunkFormat.plain;
    chunk.set(encoded, 1);
    return chunk;
  }
  const chunk = new Uint8Array(text.length * 2 + 1);
  chunk[0] = ChunkFormat.utf16;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    chunk[index * 2 + 1] = code & 0xff;
    chunk[index * 2 + 2] = code >> 8;
  }
  return chunk;
}

export function decodeText(chunk: Uint8Array): string {
  if (chunk[0] !== ChunkFormat.utf16)
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(chunk.subarray(1));
  let text = "";
  for (let index = 1; index < chunk.length; index += 2) {
    text += String.fromCharCode((chunk[index] as number) | ((chunk[index + 1] as number) << 8));
  }
  return text;
}
