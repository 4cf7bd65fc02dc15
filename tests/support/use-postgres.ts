import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { DatabaseAdapter } from "../../src/store/store.ts";
import { ENGINES, type EngineOptions, type TestEngine } from "./engines.ts";
import { StoreUnderTest } from "./use-store.ts";

const postgres = ENGINES.find(({ name }) => name === "postgres") as TestEngine;

/** One PostgreSQL database for the tests of a `describe`, with sessions of a test's own beside the store's. */
export function usePostgres(): PostgresUnderTest {
  const subject = new PostgresUnderTest();
  beforeAll(async () => {
    subject.database = await postgres.create({ clock: subject.clock });
    subject.observer = await subject.open();
  });
  beforeEach(() => subject.nextNamespace());
  afterEach(() => subject.endSessions());
  afterAll(async () => {
    await subject.observer?.end();
    await subject.database?.dispose();
  });
  return subject;
}

export class PostgresUnderTest extends StoreUnderTest {
  observer: Client | undefined;
  readonly #sessions: Client[] = [];

  get url(): string {
    return this.database?.location ?? "";
  }

  /** Another process' adapter on the same database. */
  reopen(options?: EngineOptions): DatabaseAdapter {
    if (this.database === undefined) throw new Error("The store is there only while tests run.");
    return this.database.reopen(options);
  }

  async open(): Promise<Client> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    return client;
  }

  /** A session with an open transaction. It ends with the test. */
  async begin(): Promise<Client> {
    const client = await this.open();
    this.#sessions.push(client);
    await client.query("begin");
    return client;
  }

  /** A session that holds the lock of a hook's row, as a session that is just writing it does. */
  async lock(id: string): Promise<Client> {
    const client = await this.begin();
    await client.query("select from perdure.hook where namespace = $1 and id = $2 for update", [this.namespace, id]);
    return client;
  }

  /** Resolves when so many sessions of this database wait for a lock. */
  async waiting(count: number): Promise<void> {
    while ((await this.countWaiting()) !== count);
  }

  async countWaiting(): Promise<number> {
    const result = await this.observer?.query(
      `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return result?.rows[0].count;
  }

  /**
   * Resolves when no session of this database is at work on a statement. Transactions may be open, and sessions may wait for
   * the rest of a message.
   */
  async idle(): Promise<void> {
    for (;;) {
      const result = await this.observer?.query(
        `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
          and wait_event_type is distinct from 'Client'`,
      );
      if (result?.rows[0].count === 0) return;
    }
  }

  async endSessions(): Promise<void> {
    for (const client of this.#sessions.splice(0)) await client.end();
  }
}
