import { join } from "node:path";
import type { Engine } from "./contender.ts";
import { createDiskDirectory } from "./disk-directory.ts";
import { startPostgres } from "./postgres-server.ts";

/** Gives out fresh databases of one engine. */
export interface Databases extends AsyncDisposable {
  readonly description: string;
  create(): Promise<Database>;
}

interface Database extends AsyncDisposable {
  /** A path for SQLite, a URL for PostgreSQL. */
  readonly address: string;
}

export async function openDatabases(engine: Engine): Promise<Databases> {
  return engine === "sqlite" ? sqliteFiles() : await postgresDatabases();
}

function sqliteFiles(): Databases {
  return {
    description: `SQLite ${process.versions["sqlite"]}, files in a temporary directory on disk`,
    async create() {
      const directory = await createDiskDirectory();
      return {
        address: join(directory.path, "bench.db"),
        [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

async function postgresDatabases(): Promise<Databases> {
  const server = await startPostgres();
  return {
    description: server.description,
    async create() {
      const database = await server.createDatabase();
      return { address: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
