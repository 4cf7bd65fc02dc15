/** How much is read of journals and events in one statement, about: a narrow connection must answer within its time. */
export const PAGE_BYTES: number = 1024 * 1024;
/** The bytes of an entry or an event without its value. */
export const ROW_BYTES = 100;

/** How many rows are read first. The number doubles as long as the page isn't full. */
const FIRST_ROWS = 64;

/** How many rows of these sizes fit on a page. The first does in any case. */
export function countFitting(sizes: readonly number[], maxBytes: number): number {
  let bytes = 0;
  const beyond = sizes.findIndex((size, index) => {
    bytes += size;
    return index > 0 && bytes > maxBytes;
  });
  return beyond === -1 ? sizes.length : beyond;
}

/** The bytes that are left on a page, where rows can be read a few at a time. */
export class PageRoom {
  #bytes: number;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Whether something may have been left out. */
  get full(): boolean {
    return this.#bytes <= 0;
  }

  /** Reads rows after the last one until all are read, or the page is full. */
  fill<Row>(read: (last: Row | undefined, limit: number) => Row[], textOf: (row: Row) => string | null): Row[] {
    const rows: Row[] = [];
    for (let limit = FIRST_ROWS; !this.full; limit *= 2) {
      const some = read(rows.at(-1), limit);
      for (const row of some) {
        if (this.full) return rows;
        rows.push(row);
        this.#bytes -= (textOf(row)?.length ?? 0) + ROW_BYTES;
      }
      if (some.length < limit) break;
    }
    return rows;
  }
}
