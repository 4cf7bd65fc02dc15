import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Client, escapeIdentifier } from "pg";
import { inject } from "vitest";
import { withDatabase } from "./postgres-url.ts";

/** Much longer than a connection takes to close, on the slowest machine. */
const CLOSING_MS = 30_000;

export interface TestDatabase {
  readonly url: string;
  /** Deletes the database. Rejects, after deleting it, if connections to it were left open: the test leaks them. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  readonly empty?: boolean;
  /** Of an empty one, instead of UTF8. */
  readonly encoding?: "LATIN1";
  /** How long `drop` waits for connections that are about to close. */
  readonly closingMs?: number;
}

/** Clones the migrated template, or an empty one, into a database of the caller's own. */
export async function createDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { empty = false, encoding, closingMs = CLOSING_MS } = options;
  const { url, prefix, template: migrated } = inject("postgres");
  const encoded = encoding === undefined ? "" : ` ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C'`;
  const template = empty ? "template0" : migrated;
  const name = `${prefix}_${randomBytes(5).toString("hex")}`;
  await withClient(url, (client) =>
    client.query(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)}${encoded}`),
  );
  return {
    url: withDatabase(url, name),
    drop: () =>
      withClient(url, async (client) => {
        const leaked = await connectionsLeft(client, name, closingMs);
        await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
        if (leaked.length > 0) {
          throw new Error(
            `${leaked.length} connections were still open when the database was dropped. ` +
              `Close what the test opened. Their last queries:\n${leaked.join("\n")}`,
          );
        }
      }),
  };
}

/** The last queries of the connections that stay open. The server notices a closed one a little after its client. */
async function connectionsLeft(client: Client, name: string, closingMs: number): Promise<string[]> {
  const deadline = performance.now() + closingMs;
  for (;;) {
    const { rows } = await client.query<{ query: string }>(
      "SELECT query FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'",
      [name],
    );
    if (rows.length === 0 || performance.now() > deadline) {
      return rows.map((row) => row.query);
    }
    await delay(10);
  }
}

async function withClient<Result>(url: string, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
