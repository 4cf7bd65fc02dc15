/** The first byte of every chunk of a stream says what follows. */
export const ChunkFormat = {
  /** Bytes as they are, or text in UTF-8. */
  plain: 0,
  /** Text in UTF-16: it isn't well-formed. */
  utf16: 1,
  /** The output of a codec for a whole chunk. */
  encoded: 2,
} as const;
