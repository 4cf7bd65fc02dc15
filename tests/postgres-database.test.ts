import { Client } from "pg";
import { afterEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "./support/postgres-database.ts";

const open: { end(): Promise<void> }[] = [];
const databases: TestDatabase[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.end()));
  await Promise.all(databases.splice(0).map((database) => database.drop()));
});

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  open.push(client);
  return client;
}

test("two databases don't see each other's tables", async () => {
  databases.push(await createDatabase(), await createDatabase());
  const [first, second] = await Promise.all(databases.map((database) => connect(database.url)));

  await first?.query("CREATE TABLE note (text text)");

  await expect(first?.query("SELECT * FROM note")).resolves.toMatchObject({ rows: [] });
  await expect(second?.query("SELECT * FROM note")).rejects.toThrow('relation "note" does not exist');
});

test("a dropped database is gone", async () => {
  const database = await createDatabase();
  await (await connect(database.url)).end();

  await database.drop();

  await expect(connect(database.url)).rejects.toThrow("does not exist");
});

test("dropping a database with an open connection tells whose it is", async () => {
  const database = await createDatabase({ closingMs: 100 });
  const leak = await connect(database.url);
  leak.on("error", () => {});
  await leak.query("SELECT 'the leak'");

  await expect(database.drop()).rejects.toThrow("SELECT 'the leak'");
});
