import type { Client } from "pg";
import type { Clock } from "../../src/clock.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import type { Connection } from "../../src/store/postgres/connection/connection.ts";
import { PostgresInstanceStatements } from "../../src/store/postgres/instances/instance-statements.ts";
import type { Statement } from "../../src/store/postgres/sql/statement.ts";
import type { PostgresUnderTest } from "./use-postgres.ts";

const GATE = 4711;

/** What workflows ask, on a session of the test's own: in its transaction, if it has begun one. */
export function instancesOn(client: Client, clock: Clock, change = (text: string) => text): InstanceStatements {
  const connection = {
    run: ({ text }: Statement, values: unknown[]) => client.query({ text: change(text), values }),
  };
  const dedicated = { client: undefined, distrust: () => {} };
  return new PostgresInstanceStatements(connection as unknown as Connection, clock, '"perdure".', dedicated);
}

/**
 * Asks something whose statement has its snapshot, and so doesn't see what is committed from now on, but does nothing until it
 * is told to go on: to learn the time it has to wait for a lock.
 */
export async function holdAfterSnapshot<Result>(
  test: PostgresUnderTest,
  ask: (instances: InstanceStatements) => Promise<Result>,
): Promise<{ goOn: () => Promise<Result> }> {
  const holder = await test.begin();
  await holder.query("select pg_advisory_xact_lock($1)", [GATE]);
  const client = await test.begin();
  await client.query("commit");
  const asked = ask(
    instancesOn(client, test.clock, (text) => text.replace("as now)", `as now from pg_advisory_xact_lock(${GATE}))`)),
  );
  await test.waiting(1);
  return {
    goOn: async () => {
      await holder.query("commit");
      return asked;
    },
  };
}
