import { join } from "node:path";
import { CuttingProxy } from "../tests/support/cutting-proxy.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../tests/support/embedded-postgres.ts";
import type { ChaosEngine } from "./settings.ts";

/** A database, and the ways to it. */
export interface Arena {
  /** For the accounts: reaches the database whatever happens. */
  readonly database: string;
  /** For the processes. */
  readonly ways: readonly string[];
  /** None where processes open a file. */
  readonly server: EmbeddedPostgres | null;
  readonly proxies: readonly CuttingProxy[];
  close(): Promise<void>;
}

export function openArena(engine: ChaosEngine, directory: string): Promise<Arena> {
  return engine === "postgres" ? openPostgresArena() : openSqliteArena(directory);
}

/** Two networks, so that a fault of one leaves processes on the other that go on. */
async function openPostgresArena(): Promise<Arena> {
  const server = await startEmbeddedPostgres();
  const proxies = [await CuttingProxy.start(server.url), await CuttingProxy.start(server.url)];
  return {
    database: server.url,
    ways: proxies.map(({ url }) => url),
    server,
    proxies,
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      await server.stop();
    },
  };
}

async function openSqliteArena(directory: string): Promise<Arena> {
  const database = join(directory, "chaos.db");
  return { database, ways: [database], server: null, proxies: [], close: async () => {} };
}
