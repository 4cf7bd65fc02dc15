/** One page of a list, and the cursor of the next. */
export interface ListedPage<Item> {
  readonly items: readonly Item[];
  readonly cursor: string | null;
  /** Characters of JSON that the answer has besides these items. */
  readonly length?: number;
}

/** The requested part of a list. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** Rows per read from the database, whatever the limit of the page; fewer if they are large. They are in memory together. */
const FIRST_READ = 10;
const LARGEST_READ = 50;
/** Bytes of JSON in a page. Only a single item that is larger may exceed them. */
const FULL_PAGE = 8 * 1024 * 1024;
/** For the fields around the items. */
const RESERVED = 4096;

/**
 * One page of a list, as it is answered. Thousands of large values would exceed the memory of the process or the length of a
 * string, so a full page ends before its limit, and its cursor says that there is more.
 */
export async function readPage<Item>(
  { limit, cursor }: PageRequest,
  read: (request: PageRequest) => Promise<ListedPage<Item>>,
  present: (item: Item) => unknown,
): Promise<ListedPage<unknown>> {
  const page: unknown[] = [];
  let [next, used, atOnce] = [cursor, RESERVED, FIRST_READ];
  for (;;) {
    const from = next === undefined ? {} : { cursor: next };
    const wanted = Math.min(limit - page.length, atOnce);
    const listed = await read({ limit: wanted, ...from });
    used += listed.length ?? 0;
    const fitting = takeFitting(listed.items.map(present), FULL_PAGE - used, page.length === 0);
    if (fitting.items.length < listed.items.length) {
      if (fitting.items.length === 0) return { items: page, cursor: next ?? null };
      atOnce = fitting.items.length; // the cursor of an item in the middle is only known by reading up to it
      continue;
    }
    page.push(...fitting.items);
    used += fitting.bytes;
    const searched = listed.items.length < wanted; // a search has compared as many as it may
    if (listed.cursor === null || page.length >= limit || searched) return { items: page, cursor: listed.cursor };
    next = listed.cursor;
    atOnce = nextRead(page.length, used);
  }
}

/** As many as there is room for; the first item of a page in any case. */
function takeFitting(items: readonly unknown[], room: number, first: boolean): { items: unknown[]; bytes: number } {
  const fitting: unknown[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = byteLength(JSON.stringify(item)) + 1;
    if (bytes + size > room && !(first && fitting.length === 0)) break;
    fitting.push(item);
    bytes += size;
  }
  return { items: fitting, bytes };
}

/** As many as would fill the page if they are as large as those before. */
function nextRead(count: number, bytes: number): number {
  const fitting = Math.floor((FULL_PAGE - bytes) / (bytes / count));
  return Math.min(Math.max(fitting, 1), LARGEST_READ);
}

const encoder = new TextEncoder();

/** A short text is estimated: no UTF-16 unit takes more than three bytes. */
function byteLength(text: string): number {
  return text.length > 1024 ? encoder.encode(text).length : text.length * 3;
}
