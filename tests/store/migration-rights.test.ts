import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { expect, test } from "vitest";
import { perdure } from "../../src/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";
import { createDatabase } from "../support/postgres-database.ts";

test("a user of PostgreSQL who may not migrate gets an error that says what to do", async () => {
  const database = await createDatabase({ empty: true });
  const role = `reader_${process.pid}`;
  const owner = new Client({ connectionString: database.url });
  await owner.connect();
  try {
    await owner.query(`create role ${role} login password 'secret'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = "secret";
    const failure = await perdure({ database: url.href }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "schema.forbidden",
      message: expect.stringContaining("postgresMigrations()"),
    });
    expect((failure as Error).message).toContain("permission denied");
  } finally {
    await owner.query(`drop role ${role}`);
    await owner.end();
    await database.drop();
  }
});

test("a user of PostgreSQL who may not use the tables gets an error that names the missing rights", async () => {
  const database = await createDatabase({ empty: true });
  const role = `stranger_${process.pid}`;
  const owner = new Client({ connectionString: database.url });
  await owner.connect();
  try {
    await (await perdure({ database: database.url })).stop();
    await owner.query(`create role ${role} login password 'secret'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = "secret";
    const refusal = { code: "schema.forbidden", message: expect.stringContaining('USAGE on the schema "perdure"') };
    await expect(perdure({ database: url.href })).rejects.toMatchObject(refusal);
    await owner.query(`grant usage on schema perdure to ${role}`);
    await expect(perdure({ database: url.href })).rejects.toMatchObject(refusal);
    await owner.query(`grant select, insert, update, delete on all tables in schema perdure to ${role}`);
    await (await perdure({ database: url.href })).stop();
  } finally {
    await owner.query(`drop owned by ${role}; drop role ${role}`);
    await owner.end();
    await database.drop();
  }
});

test("the error for a SQLite database that can only be read says so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "perdure-read-only-"));
  const path = join(folder, "app.db");
  new DatabaseSync(path).exec("create table orders (id text) strict");
  const handle = new DatabaseSync(path, { readOnly: true });
  try {
    const failure = await perdure({ database: sqlite(handle) }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "schema.forbidden", message: expect.stringContaining("can only be read") });
  } finally {
    handle.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
