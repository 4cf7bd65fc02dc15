/** What can be given to a database as a parameter. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array | Date;

export type SqlRow = Record<string, unknown>;
