import type { Store } from "../../src/store/store.ts";
import type { TestEngine } from "./engines.ts";

/** Where users' values are stored. */
const COLUMNS = {
  params: ["instance", "params"],
  output: ["instance", "output"],
  error: ["instance", "error"],
  result: ["journal", "value"],
  event: ["event", "payload"],
  hook: ["hook", "payload"],
  hookError: ["hook", "error"],
  cursor: ["subject", "cursor"],
} as const;

export type StoredPlace = keyof typeof COLUMNS;

/** A value of a kind that this version can read, and that a newer version stores under a name that this one doesn't know. */
export const KNOWN = new Date(0);
const KNOWN_TAG = '{"$perdure":"Date"';
const NEWER_TAG = '{"$perdure":"Temporal.Instant"';

/** Makes the dates that are stored there what a newer version would have written. */
export function makeNewer(store: Store, engine: TestEngine, place: StoredPlace): Promise<void> {
  return replace(store, engine, place, [KNOWN_TAG, NEWER_TAG]);
}

/** Makes them readable again, as they are for code that knows the tag. */
export function makeKnown(store: Store, engine: TestEngine, place: StoredPlace): Promise<void> {
  return replace(store, engine, place, [NEWER_TAG, KNOWN_TAG]);
}

async function replace(
  store: Store,
  { dialect }: TestEngine,
  place: StoredPlace,
  [from, to]: [string, string],
): Promise<void> {
  const [table, column] = COLUMNS[place];
  const sql =
    dialect === "sqlite"
      ? `update perdure_${table} set ${column} = replace(${column}, '${from}', '${to}') where ${column} like '%${from}%'`
      : `update perdure.${table} set ${column} = replace(${column}::text, '${from}', '${to}')::json where ${column}::text like '%${from}%'`;
  await store.engine.transaction((transaction) => transaction.query(sql, []));
}
