import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Connection } from "../../src/store/postgres/connection/connection.ts";
import type { PostgresPool } from "../../src/store/postgres/connection/driver.ts";
import type { Statement } from "../../src/store/postgres/sql/statement.ts";
import { usePostgres } from "../support/use-postgres.ts";

const SETTINGS = ["lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"];
const PROBE: Statement = {
  name: "probe",
  planOnce: true,
  text: `select ${SETTINGS.map((name) => `current_setting('${name}') as ${name}`).join(", ")}, $1::int as given`,
};
const NO_LIMITS = { lock_timeout: "0", statement_timeout: "0", idle_in_transaction_session_timeout: "0" };

describe("limits that PostgreSQL itself keeps", () => {
  const sessions = usePostgres();
  let pool: Pool;
  let connection: Connection;

  const connect = (preparedStatements = true) =>
    new Connection({
      pool: pool as unknown as PostgresPool,
      preparedStatements,
      statementPrefix: "perdure_",
      schema: '"perdure".',
      clock: sessions.clock,
      onPoolError: () => {},
    });

  beforeEach(() => {
    pool = new Pool({ connectionString: sessions.url, max: 3 });
    connection = connect();
  });

  afterEach(async () => {
    await connection.close();
    await pool.end();
  });

  test.each([true, false])(
    "hold for single statements, prepared or not (%s), and leave nothing behind",
    async (prepared) => {
      connection = connect(prepared);
      for (let given = 1; given <= 3; given++) {
        const { rows } = await connection.run(PROBE, [given]);
        expect(rows).toEqual([
          { lock_timeout: "8s", statement_timeout: "9s", idle_in_transaction_session_timeout: "5s", given },
        ]);
        expect((await pool.query(PROBE.text, [given])).rows).toEqual([{ ...NO_LIMITS, given }]);
      }
      expect(pool.totalCount).toBe(1);
    },
  );

  test("hold for a statement on a connection that a caller keeps", async () => {
    const client = await connection.checkOut();
    const { rows } = await connection.run(PROBE, [1], client);
    client.release();
    expect(rows).toMatchObject([{ lock_timeout: "8s" }]);
  });

  test("hold for transactions, and leave nothing behind", async () => {
    const rows = await connection.transaction(async (client) => {
      const { rows } = await connection.run(PROBE, [1], client);
      return rows;
    });
    expect(rows).toMatchObject([{ lock_timeout: "8s", statement_timeout: "9s" }]);
    expect((await pool.query(PROBE.text, [1])).rows).toEqual([{ ...NO_LIMITS, given: 1 }]);
  });

  test("hold for units of work, and are longer there", async () => {
    const [row] = await sessions.store.engine.transaction((transaction) => transaction.query(PROBE.text, [1]));
    expect(row).toMatchObject({ lock_timeout: "1min", idle_in_transaction_session_timeout: "1min" });
  });

  test("are those of the role or the database where these are shorter", async () => {
    pool.on("connect", (client) => client.query("set lock_timeout = '70ms'; set statement_timeout = '1h'"));
    const { rows } = await connection.run(PROBE, [1]);
    expect(rows).toMatchObject([{ lock_timeout: "70ms", statement_timeout: "9s" }]);
  });

  test("end a statement that waits for a table, so that it doesn't happen later", async () => {
    await pool.query("create table if not exists written (number int)");
    pool.on("connect", (client) => client.query("set lock_timeout = '50ms'"));
    const holder = await sessions.begin();
    await holder.query("lock table written in access exclusive mode");
    const insert: Statement = { name: "write", planOnce: true, text: "insert into written values ($1)" };
    const fresh = await pool.connect();
    await fresh.query("set lock_timeout = '50ms'");
    fresh.release();
    await expect(connection.run(insert, [1])).rejects.toMatchObject({ code: "store.unavailable", transient: true });
    expect(await sessions.countWaiting()).toBe(0);
    await holder.query("commit");
    expect((await pool.query("select number from written")).rows).toEqual([]);

    await connection.run(insert, [2]); // on the same connection, which is as good as before
    expect((await pool.query("select number from written")).rows).toEqual([{ number: 2 }]);
  });

  test("don't confuse what a connection has prepared when a statement fails", async () => {
    const broken: Statement = { name: "broken", planOnce: true, text: "select number from missing where number = $1" };
    await expect(connection.run(broken, [1])).rejects.toMatchObject({ code: "store.not_migrated" });
    await pool.query("create table missing as select 1 as number");
    expect((await connection.run(broken, [1])).rows).toEqual([{ number: 1 }]);
    await pool.query("drop table missing");
    expect(pool.totalCount).toBe(1);
  });
});
