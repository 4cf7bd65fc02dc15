import { randomBytes } from "node:crypto";
import { Client, escapeIdentifier } from "pg";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "./embedded-postgres.ts";
import { prepareTemplate } from "./postgres-template.ts";
import { withDatabase } from "./postgres-url.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** What a test needs to make databases of its own; see `createDatabase`. */
    readonly postgres: {
      /** A database on the server from which others can be created. */
      readonly url: string;
      /** Begins the name of every database of this run. */
      readonly prefix: string;
      readonly template: string;
    };
  }
}

interface TestServer {
  readonly provided: ProvidedContext["postgres"];
  stop(): Promise<void>;
}

/** The projects of one run load this file each for itself, and share one server. */
const shared = globalThis as { perdureTestServer?: { readonly server: Promise<TestServer>; users: number } };

/** Gives every test run a PostgreSQL server, or the one that `DATABASE_URL` names, with a template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.perdureTestServer ??= { server: startServer(), users: 0 };
  const { perdureTestServer } = shared;
  perdureTestServer.users++;
  const { provided, stop } = await perdureTestServer.server;
  project.provide("postgres", provided);
  return async () => {
    if (--perdureTestServer.users === 0) await stop();
  };
}

async function startServer(): Promise<TestServer> {
  const { url, stop } = await findServer();
  const prefix = `perdure_test_${randomBytes(5).toString("hex")}`;
  const template = `${prefix}_template`;
  const stopServer = async (): Promise<void> => {
    try {
      await dropDatabases(url, prefix);
    } finally {
      await stop();
    }
  };
  try {
    await query(url, `CREATE DATABASE ${escapeIdentifier(template)}`);
    await prepareTemplate(withDatabase(url, template));
  } catch (error) {
    await stopServer();
    throw error;
  }
  return { provided: { url, prefix, template }, stop: stopServer };
}

async function findServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const given = process.env["DATABASE_URL"];
  return given === undefined || given === "" ? startEmbeddedPostgres() : { url: given, stop: async () => {} };
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const left = await query<{ name: string }>(
    url,
    "SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)",
    [prefix],
  );
  for (const { name } of left) {
    await query(url, `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
  }
}

async function query<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query<Row>(text, values);
    return result.rows;
  } finally {
    await client.end();
  }
}
