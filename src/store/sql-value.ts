/** A parameter of a statement. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array | Date;

export type SqlRow = Record<string, unknown>;
