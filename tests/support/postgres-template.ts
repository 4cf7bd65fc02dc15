import { migrateEngine } from "../../src/store/migrate-store.ts";
import { postgres } from "../../src/store/postgres/index.ts";

/** Runs once per test run on the template database, before any test clones it: every clone has Perdure's tables. */
export async function prepareTemplate(url: string): Promise<void> {
  const { store } = postgres(url);
  try {
    await migrateEngine(store.engine, []);
  } finally {
    await store.close();
  }
}
