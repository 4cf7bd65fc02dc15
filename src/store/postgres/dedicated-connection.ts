import { StoreError } from "../../errors.ts";
import type { Companion } from "./accompanied-query.ts";
import type { PostgresClient, PostgresQueryable, PostgresResult } from "./driver.ts";

/** A connection that nobody else can keep busy, while there is one. */
export interface DedicatedConnection {
  readonly client: PostgresClient | undefined;
  /** It didn't answer, or failed: another one is needed. */
  distrust(client: PostgresClient): void;
}

/** Tells other processes of what a write makes due, with that write. */
export interface Carrier {
  carry?(namespaces: readonly string[]): Companion | null;
}

/** Asks there first. Where it isn't there or doesn't work, a lease is worth another try on another connection. */
export async function askDedicated(
  dedicated: DedicatedConnection,
  ask: (on?: PostgresQueryable) => Promise<PostgresResult>,
): Promise<PostgresResult> {
  const { client } = dedicated;
  if (client === undefined) return ask();
  try {
    return await ask(client);
  } catch (error) {
    if (!(error instanceof StoreError && error.transient)) throw error;
    dedicated.distrust(client);
    return ask();
  }
}
