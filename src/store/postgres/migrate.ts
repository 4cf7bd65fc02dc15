import { SchemaError } from "../../errors.ts";
import type { Migrator } from "../engine.ts";
import type { AppliedMigration } from "../migration.ts";
import type { Connection } from "./connection/connection.ts";
import type { Limits } from "./connection/limits.ts";

/** A migration may read and write whole tables, and waits while another process migrates. */
const LIMITS: Limits = { lock: 600_000, statement: 3_600_000, idle: 60_000 };

/**
 * Migrates in one transaction that locks the migrations table, so processes that start together wait for each other. It uses
 * neither session state nor advisory locks, so it works through a transaction pooler.
 */
export async function migratePostgres(
  connection: Connection,
  schema: string,
  body: (migrator: Migrator) => Promise<void>,
): Promise<void> {
  try {
    await migrateOnce(connection, schema, body);
  } catch (error) {
    throw isForbidden(error) ? mayNotMigrate(schema, error as Error) : error;
  }
}

/** SQLSTATE insufficient_privilege. */
function isForbidden(error: unknown): boolean {
  return (error as { cause?: { code?: unknown } } | undefined)?.cause?.code === "42501";
}

function mayNotMigrate(schema: string, { message, cause }: Error): SchemaError {
  return new SchemaError(
    "schema.forbidden",
    `The database's user isn't allowed to migrate the schema "${schema}": ${message}. Either connect once as the owner of the database ` +
      `and call migrate(), or let the owner run the SQL that postgresMigrations() of perdure/postgres returns. Then grant this user ` +
      `${rightsOn(schema)}: that is all that it needs later.`,
    { cause },
  );
}

function mayNotUse(schema: string, { message, cause }: Error): SchemaError {
  return new SchemaError(
    "schema.forbidden",
    `The database's user isn't allowed to use the schema "${schema}": ${message}. Let its owner grant this user ${rightsOn(schema)}.`,
    { cause },
  );
}

function rightsOn(schema: string): string {
  return `USAGE on the schema "${schema}", and SELECT, INSERT, UPDATE and DELETE on its tables`;
}

async function migrateOnce(
  connection: Connection,
  schema: string,
  body: (migrator: Migrator) => Promise<void>,
): Promise<void> {
  await createMigrationsTable(connection, schema);
  await connection.transaction(async (client) => {
    await connection.query({ text: `lock table "${schema}".migration in share row exclusive mode` }, client);
    await body({
      applied: async () => toApplied(await connection.query({ text: appliedMigrations(schema) }, client)),
      apply: async (migration) => {
        await connection.query({ text: migration.sql }, client);
        await connection.query(
          {
            text: `insert into "${schema}".migration (owner, number, name, breaking) values ($1, $2, $3, $4)`,
            values: [migration.owner, migration.number, migration.name, migration.breaking],
          },
          client,
        );
      },
    });
  }, LIMITS);
}

export async function readAppliedMigrations(connection: Connection, schema: string): Promise<AppliedMigration[]> {
  try {
    if (!(await tableExists(connection, schema))) return [];
    return toApplied(await connection.query({ text: appliedMigrations(schema) }));
  } catch (error) {
    throw isForbidden(error) ? mayNotUse(schema, error as Error) : error;
  }
}

/** SQL that prepares a database for the first migration. */
export function migrationsTable(schema: string): string {
  return `create schema if not exists "${schema}";
create table if not exists "${schema}".migration (
  owner text not null,
  number integer not null,
  name text not null,
  breaking boolean not null,
  applied_at timestamptz not null default now(),
  primary key (owner, number)
);
`;
}

const DUPLICATE = new Set(["23505", "42P06", "42P07", "42710"]);
const CREATE_TRIES = 20;

/**
 * "if not exists" isn't safe when two processes create at the same moment: one gets an error, and finds the table when it looks
 * again.
 */
async function createMigrationsTable(connection: Connection, schema: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      if (await tableExists(connection, schema)) return;
      await connection.query({ text: migrationsTable(schema) });
      return;
    } catch (error) {
      const code = (error as { cause?: { code?: string } }).cause?.code ?? "";
      if (!DUPLICATE.has(code) || tries === CREATE_TRIES) throw error;
    }
  }
}

async function tableExists(connection: Connection, schema: string): Promise<boolean> {
  const { rows } = await connection.query({
    text: "select to_regclass($1) is not null as known",
    values: [`"${schema}".migration`],
  });
  return rows[0]?.known === true;
}

function appliedMigrations(schema: string): string {
  return `select owner, number, name, breaking from "${schema}".migration order by owner, number`;
}

function toApplied({ rows }: { rows: Record<string, unknown>[] }): AppliedMigration[] {
  return rows.map((row) => ({
    owner: row.owner as string,
    number: Number(row.number),
    name: row.name as string,
    breaking: row.breaking === true,
  }));
}
