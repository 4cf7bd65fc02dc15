import { decodeValue, describeError, shownOrUnreadable } from "../values/index.ts";

/** How many rows one search compares at most. */
export const MOST_COMPARED = 10_000;
const FIRST_READ = 100;

/** A row that was compared with everything that the database can compare. */
export interface ComparedRow {
  readonly matches: boolean;
  /** Null if there is none, or if it isn't asked for. */
  readonly error: string | null;
}

export interface RowSearch<Row extends ComparedRow> {
  /** A text that the row's error has, in lower case. */
  readonly error: string | null;
  readonly after: string | null;
  /** The place at which `read` ends, although there may be more rows. Default: it ends with the last row. */
  readonly until?: string | null;
  /** How many to find. */
  readonly limit: number;
  /** How many rows are read at once, after the first read. Default: as many as in the first. */
  readonly atOnce?: number;
  /** Reads rows in order, after a place. */
  readonly read: (after: string | null, limit: number) => Promise<readonly Row[]>;
  readonly placeOf: (row: Row) => string;
}

export interface FoundRows<Row> {
  readonly found: readonly Row[];
  /** The place that a search for more continues after; null if there are no more rows. */
  readonly continueAfter: string | null;
}

/**
 * Finds rows by comparing one after another, up to `MOST_COMPARED`. It may find fewer than `limit` although there are more.
 * Errors are compared here, because the database may only have them encrypted.
 */
export async function compareRows<Row extends ComparedRow>(search: RowSearch<Row>): Promise<FoundRows<Row>> {
  const { error, after, until = null, limit, read, placeOf } = search;
  const found: Row[] = [];
  let [from, compared, atOnce] = [after, 0, FIRST_READ];
  while (compared < MOST_COMPARED) {
    const page = await read(from, atOnce);
    for (const row of page) {
      from = placeOf(row);
      if (!row.matches || (error !== null && !errorHas(row.error, error))) continue;
      found.push(row);
      if (found.length === limit) return { found, continueAfter: from };
    }
    if (page.length < atOnce) return { found, continueAfter: until };
    compared += page.length;
    atOnce = search.atOnce ?? FIRST_READ;
  }
  return { found, continueAfter: from };
}

/** In its name, message or code. An error that can't be read has no text. */
function errorHas(stored: string | null, text: string): boolean {
  if (stored === null) return false;
  const shown = shownOrUnreadable(() => describeError(decodeValue(stored)));
  if (!("message" in shown)) return false;
  return [shown.name, shown.message, shown.code].some((part) => part?.toLowerCase().includes(text) === true);
}
