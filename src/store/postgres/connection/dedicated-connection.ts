import { StoreError } from "../../../errors.ts";
import type { Topic } from "../../queue/work-board.ts";
import type { Companion } from "./accompanied-query.ts";
import type { PostgresClient, PostgresQueryable, PostgresResult } from "./driver.ts";

/** A connection that no other statement keeps busy, while it is open. */
export interface DedicatedConnection {
  readonly client: PostgresClient | undefined;
  /** The connection didn't answer, or failed: replace it. */
  distrust(client: PostgresClient): void;
}

/** Sends the notification of a write together with the write. */
export interface Carrier {
  carry?(namespaces: readonly string[]): Companion | null;
  /** That of a commit which finishes one instance, and writes nothing else. */
  carryEnd?(topic: Topic): Companion | null;
}

/** Asks on the dedicated connection. If it is missing or fails, asks on another one, because a lease is at stake. */
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
