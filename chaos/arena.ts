import { join } from "node:path";
import { Client } from "pg";
import { CuttingProxy } from "../tests/support/cutting-proxy.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../tests/support/embedded-postgres.ts";
import type { ChaosEngine } from "./settings.ts";

/** A database, and the networks that lead to it. */
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

/** Processes connect as this role, which isn't a superuser: a superuser misses no privilege. */
export const PROCESS_ROLE = "chaos";

/** Two networks, so that processes on one continue while the other has a fault. */
async function openPostgresArena(): Promise<Arena> {
  const server = await startEmbeddedPostgres();
  const url = await createProcessRole(server.url);
  const proxies = [await CuttingProxy.start(url), await CuttingProxy.start(url)];
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

/** Returns the URL that processes connect with. They may use whatever the superuser creates, and create tables themselves. */
async function createProcessRole(database: string): Promise<string> {
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query(`create role ${PROCESS_ROLE} login password '${PROCESS_ROLE}';
    grant create on database postgres to ${PROCESS_ROLE};
    grant all on schema public to ${PROCESS_ROLE};
    alter default privileges grant all on schemas to ${PROCESS_ROLE};
    alter default privileges grant all on tables to ${PROCESS_ROLE};
    alter default privileges grant all on sequences to ${PROCESS_ROLE}`);
  await client.end();
  const url = new URL(database);
  url.username = PROCESS_ROLE;
  url.password = PROCESS_ROLE;
  return url.href;
}

async function openSqliteArena(directory: string): Promise<Arena> {
  const database = join(directory, "chaos.db");
  return { database, ways: [database], server: null, proxies: [], close: async () => {} };
}
