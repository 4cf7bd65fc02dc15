import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { postgres } from "../../src/store/postgres/index.ts";
import { COMMIT } from "./cut-texts.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { ENGINES, type TestEngine, type TestStore } from "./engines.ts";

export const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** PostgreSQL behind a proxy that cuts connections at a commit, with a table of an application's. */
export class CutCommits {
  /** Reached past the proxy. */
  database!: TestStore;
  proxy!: CuttingProxy;

  /** An adapter that reaches the database through the proxy. */
  adapter() {
    return postgres(this.proxy.url, { logger: silent });
  }

  /** Cuts the connection that commits next, before the server receives the request, or before the client gets the answer. */
  cut(before: "request" | "answer"): Promise<void> {
    return this.proxy.cut(COMMIT, before);
  }

  /** How many rows the table has whose ids begin like this, and how many different ids these have. */
  async counts(prefix: string): Promise<[rows: number, ids: number]> {
    const [count] = await this.query(
      `select count(*) as rows, count(distinct id) as ids from ledger where id like '${prefix}%'`,
    );
    return [Number(count?.["rows"]), Number(count?.["ids"])];
  }

  query(text: string) {
    return this.database.store.engine.transaction((transaction) => transaction.query(text, []));
  }
}

/** For the tests of one `describe`. */
export function useCutCommits(): CutCommits {
  const engine = ENGINES.find(({ dialect }) => dialect === "postgres") as TestEngine;
  const cuts = new CutCommits();
  beforeAll(async () => {
    cuts.database = await engine.create();
    await cuts.query("create table ledger (id text, key text)");
  });
  afterAll(() => cuts.database.dispose());
  beforeEach(async () => {
    cuts.proxy = await CuttingProxy.start(cuts.database.location);
  });
  afterEach(() => cuts.proxy.stop());
  return cuts;
}
