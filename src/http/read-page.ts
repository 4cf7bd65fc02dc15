/** What a list gives at once, and where it goes on. */
export interface ListedPage<Item> {
  readonly items: readonly Item[];
  readonly cursor: string | null;
}

/** Which part of a list is wanted. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** Of the database: so many values are in memory at a time, however many were asked for. */
const READ_AT_ONCE = 50;
/** Characters of JSON, after which a page is full. */
const FULL_PAGE = 8 * 1024 * 1024;

/**
 * One page of a list, as it is answered. Thousands of large values would be more than a process can hold or a text can be, so a page
 * that is full ends before its limit: its cursor says that there is more.
 */
export async function readPage<Item>(
  { limit, cursor }: PageRequest,
  read: (request: PageRequest) => Promise<ListedPage<Item>>,
  present: (item: Item) => unknown,
): Promise<ListedPage<unknown>> {
  const shown: unknown[] = [];
  let next = cursor;
  for (let length = 0; ; ) {
    const wanted = Math.min(limit - shown.length, READ_AT_ONCE);
    const page = await read({ limit: wanted, ...(next === undefined ? {} : { cursor: next }) });
    for (const item of page.items.map(present)) {
      shown.push(item);
      length += JSON.stringify(item).length;
    }
    if (page.cursor === null || shown.length >= limit || length >= FULL_PAGE)
      return { items: shown, cursor: page.cursor };
    next = page.cursor;
  }
}
