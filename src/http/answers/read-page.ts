/** What a list gives at once, and where it goes on. */
export interface ListedPage<Item> {
  readonly items: readonly Item[];
  readonly cursor: string | null;
  /** Characters of JSON that the answer has besides these items. */
  readonly length?: number;
}

/** Which part of a list is wanted. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** Of the database: so many values are in memory at a time, however many were asked for. Fewer where they are large. */
const FIRST_READ = 10;
const LARGEST_READ = 50;
/** Bytes of JSON in a page. Only a single item that is larger exceeds them. */
const FULL_PAGE = 8 * 1024 * 1024;
/** For the fields around the items. */
const RESERVED = 4096;

/**
 * One page of a list, as it is answered. Thousands of large values would be more than a process can hold or a text can be, so a page
 * that is full ends before its limit: its cursor says that there is more.
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
    const listed = await read({ limit: Math.min(limit - page.length, atOnce), ...from });
    used += listed.length ?? 0;
    const fitting = takeFitting(listed.items.map(present), FULL_PAGE - used, page.length === 0);
    if (fitting.items.length < listed.items.length) {
      if (fitting.items.length === 0) return { items: page, cursor: next ?? null };
      atOnce = fitting.items.length; // only the list itself knows the cursor of an item in its middle
      continue;
    }
    page.push(...fitting.items);
    used += fitting.bytes;
    if (listed.cursor === null || page.length >= limit) return { items: page, cursor: listed.cursor };
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

/** So many as would fill a page if they were like those before. */
function nextRead(count: number, bytes: number): number {
  const fitting = Math.floor((FULL_PAGE - bytes) / (bytes / count));
  return Math.min(Math.max(fitting, 1), LARGEST_READ);
}

const encoder = new TextEncoder();

/** Of a short text it is enough to know that no character has more than three. */
function byteLength(text: string): number {
  return text.length > 1024 ? encoder.encode(text).length : text.length * 3;
}
