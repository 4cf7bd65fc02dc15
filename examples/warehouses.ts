/**
 * Imports the stock of several warehouses, page by page, from an API that is slow and now and then down.
 *
 *     node warehouses.ts
 *
 * Each warehouse is a subject with a cursor of its own. Kill it in the middle of a page (kill -9) and start it again: every
 * warehouse goes on with the page that it was at, and no page that was finished is imported again. Or start it twice at the
 * same time: each warehouse is imported by one of the two.
 */
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { createSubjectDispatcher } from "perdure";
import { sqlite } from "perdure/sqlite";

const WAREHOUSES = ["cn-shenzhen", "de-hamburg", "us-memphis"];
const PAGES = 5;
const ITEMS_PER_PAGE = 4;
const { WAREHOUSES_DATABASE = "perdure-warehouses.db", PAGE_MS = "100", LEASE_MS = "2000" } = process.env;

interface Cursor {
  readonly page: number;
}

const database = new DatabaseSync(WAREHOUSES_DATABASE, { timeout: 5000 });
database.exec("pragma journal_mode = wal");
database.exec("create table if not exists stock (item text primary key, warehouse text, imports integer)");

/** The API of another company: a page takes its time. */
async function fetchPage(warehouse: string, page: number): Promise<string[]> {
  await delay(Number(PAGE_MS));
  return Array.from({ length: ITEMS_PER_PAGE }, (_, index) => `${warehouse}-${page}-${index}`);
}

/** Writing an item again changes nothing but a count, so a page that was cut off can simply be done again. */
function store(warehouse: string, items: readonly string[]): void {
  const insert = database.prepare(
    "insert into stock values (?, ?, 1) on conflict (item) do update set imports = imports + 1",
  );
  for (const item of items) insert.run(item, warehouse);
}

const dispatcher = createSubjectDispatcher<Cursor, { warehouse: string }>({
  database: sqlite(WAREHOUSES_DATABASE),
  profile: "example",
  dispatcherId: "inventory",
  retries: { delay: "1 second", maxDelay: "10 seconds" },
});

const finished = async () =>
  (await dispatcher.listSubjects()).subjects.filter(({ cursor }) => (cursor?.page ?? 0) > PAGES).length;

while ((await finished()) < WAREHOUSES.length) {
  await dispatcher.runSubjects({
    leaseMs: Number(LEASE_MS),
    discover: () =>
      WAREHOUSES.map((warehouse) => ({
        subjectKey: `warehouse:${warehouse}`,
        cursor: { page: 1 },
        meta: { warehouse },
      })),
    handle: async ({ cursor, meta }, { checkpoint, signal }) => {
      const warehouse = meta?.warehouse ?? "";
      for (let page = cursor?.page ?? 1; page <= PAGES; page++) {
        signal.throwIfAborted();
        console.log(`${warehouse}: page ${page} begins`);
        store(warehouse, await fetchPage(warehouse, page));
        await checkpoint({ page: page + 1 });
        console.log(`${warehouse}: page ${page} is done`);
      }
    },
  });
  await delay(100); // what another process holds comes up again when its lease has run out
}

const [row] = database.prepare("select count(*) as items, sum(imports) as imports from stock").all();
console.log(`${row?.items} items, imported ${row?.imports} times`);
database.close();
