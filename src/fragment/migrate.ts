import { InvalidInputError } from "../errors.ts";
import { migrateEngine, type OwnedTables } from "../store/migrate-store.ts";
import type { Store } from "../store/store.ts";
import { type AnyFragment, Fragment } from "./fragment.ts";

/**
 * Brings the databases of these fragments up to date: Perdure's tables and the fragments' own. Does nothing if they are, and
 * can be called by many processes at once.
 */
export async function migrate(fragments: AnyFragment | readonly AnyFragment[]): Promise<void> {
  const tablesOf = new Map<Store, OwnedTables[]>();
  for (const fragment of [fragments].flat()) {
    if (!(fragment instanceof Fragment)) {
      throw new InvalidInputError("fragment.invalid", "migrate takes a fragment, or an array of them.");
    }
    const { namespace, parts } = fragment;
    const owned = tablesOf.get(parts.store) ?? [];
    if (parts.tables !== null) owned.push({ namespace, tables: parts.tables });
    tablesOf.set(parts.store, owned);
  }
  for (const [store, owned] of tablesOf) await migrateEngine(store.engine, owned);
}
