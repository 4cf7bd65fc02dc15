import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { TestStore } from "../../support/engines.ts";

/**
 * Every row of every table of ours, as text; of SQLite the bytes of its files too, with what was deleted in them.
 * Not where another SQLite library of this process has the file open: closing it would end the other's locks.
 */
export async function readRawText({ location }: TestStore): Promise<string> {
  return location.startsWith("postgres") ? readPostgres(location) : readSqlite(location);
}

async function readPostgres(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'perdure'",
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from perdure.${name} as t`);
      texts.push(`${name}:`, ...rows.flatMap(({ text }) => [text, ...bytesIn(text)]));
    }
    return texts.join("\n");
  });
}

/** What columns of bytes say, which are shown in hexadecimal digits. */
function bytesIn(row: string): string[] {
  return Array.from(row.matchAll(/\\x([0-9a-f]{2,})/g), ([, digits]) =>
    Buffer.from(digits as string, "hex").toString("latin1"),
  );
}

function readSqlite(path: string): string {
  using database = new DatabaseSync(path);
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name like 'perdure_%'")
    .all();
  const texts = tables.map(({ name }) => {
    const rows = database.prepare(`select * from "${name}"`).all();
    return `${name}:\n${rows.map((row) => JSON.stringify(row)).join("\n")}`;
  });
  const files = [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file, "latin1"));
  return [...texts, ...files].join("\n");
}

async function withClient<Result>(url: string, body: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
}
