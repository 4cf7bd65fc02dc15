import { InvalidInputError } from "../../errors.ts";
import { type AdapterOptions, parseAdapterOptions } from "../adapter-options.ts";
import { withCodec } from "../codec/codec-engine.ts";
import { createAdapter, type DatabaseAdapter, Store } from "../store.ts";
import type { PostgresPool } from "./connection/driver.ts";
import { PostgresEngine } from "./engine.ts";
import { migrationsTable } from "./migrate.ts";
import { schemaMigrations } from "./schema/schema.ts";

export type { PostgresClient, PostgresPool, PostgresQueryable } from "./connection/driver.ts";

export interface PostgresOptions extends AdapterOptions {
  /** The schema of Perdure's tables. Default: `perdure`. */
  readonly schema?: string;
  /** Turn this off for poolers that don't keep prepared statements. Default: true. */
  readonly preparedStatements?: boolean;
  /** How many connections to open at most, if the database is given as a URL. Default: 10. */
  readonly connections?: number;
}

const FEWEST_CONNECTIONS = 3;
/** PostgreSQL truncates names to 63 bytes, and the names of statements and channels contain the schema. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,39}$/;

/**
 * A PostgreSQL database: a `postgres://` URL, or the application's own pool of `pg`.
 *
 * @example
 * const database = postgres(process.env.DATABASE_URL);
 */
export function postgres(database: string | PostgresPool, options: PostgresOptions = {}): DatabaseAdapter {
  const own = ["schema", "preparedStatements", "connections"];
  const { clock, randomness, logger, codec, stackTraces } = parseAdapterOptions(options, own);
  const { connections = 10, preparedStatements = true } = options;
  const schema = checkSchemaName(options.schema ?? "perdure");
  const pool = typeof database === "string" ? { url: checkUrl(database), connections } : checkPool(database);
  const size = "url" in pool ? connections : (pool.options?.max ?? Number.POSITIVE_INFINITY);
  if (!(typeof size === "number" && size >= FEWEST_CONNECTIONS)) {
    throw new InvalidInputError(
      "postgres.pool_too_small",
      `Perdure needs at least ${FEWEST_CONNECTIONS} connections: one listens, one claims, one commits.`,
    );
  }
  if (typeof preparedStatements !== "boolean") {
    throw new InvalidInputError("options.invalid", "preparedStatements must be true or false.");
  }
  const engine = new PostgresEngine({ pool, schema, preparedStatements, clock, randomness, logger });
  return createAdapter(new Store({ engine: withCodec(engine, codec, logger), randomness, logger, stackTraces }));
}

/** The SQL that `migrate` runs on an empty database, for operators who run it themselves. */
export function postgresMigrations(options: { schema?: string } = {}): string {
  const schema = checkSchemaName(options?.schema ?? "perdure");
  const record = (owner: string, number: number, name: string, breaking: boolean) =>
    `insert into "${schema}".migration (owner, number, name, breaking) values ('${owner}', ${number}, '${name}', ${breaking});\n`;
  const migrations = schemaMigrations(`"${schema}".`).map(
    ({ owner, number, name, breaking, sql }) =>
      `-- ${owner} ${number}: ${name}\n${sql}${record(owner, number, name, breaking)}`,
  );
  return [migrationsTable(schema), ...migrations].join("\n");
}

function checkSchemaName(schema: unknown): string {
  if (typeof schema === "string" && SCHEMA_NAME.test(schema)) return schema;
  throw new InvalidInputError(
    "postgres.schema_invalid",
    `A schema name has at most 40 lower-case letters, digits and underscores, and doesn't start with a digit; got ${typeof schema === "string" ? JSON.stringify(schema.slice(0, 100)) : `a value of type ${typeof schema}`}.`,
  );
}

function checkUrl(url: string): string {
  if (!/^postgres(ql)?:\/\//.test(url)) throw invalidUrl("it must start with postgres:// or postgresql://");
  // libpq and pg check the hosts themselves (none, several, a path). A port is always a number.
  const [, hosts = ""] = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(url) ?? [];
  const ports = hosts.split(",").map((host) => /^(?:\[[^\]]*\]|[^:[]*):(.*)$/.exec(host)?.[1] ?? "");
  const query = /[?&]port=([^&#]*)/.exec(url)?.[1] ?? "";
  if ([...ports, ...query.split(",")].every((port) => port === "" || isPort(port))) return url;
  throw invalidUrl("its port must be a number from 1 to 65535");
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

function invalidUrl(rule: string): InvalidInputError {
  return new InvalidInputError(
    "postgres.url_invalid",
    `The PostgreSQL URL can't be used: ${rule}, as in postgres://user:password@host:5432/database.`,
  );
}

function checkPool(pool: PostgresPool): PostgresPool {
  const { connect, query, end } = (pool ?? {}) as unknown as Record<string, unknown>;
  const complete = [connect, query, end].every((method) => typeof method === "function");
  if (complete && !("processID" in pool)) return pool;
  throw new InvalidInputError("postgres.pool_invalid", "Expected a postgres:// URL or a Pool of the package pg.");
}
