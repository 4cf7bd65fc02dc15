import type { TestStore } from "./engines.ts";

let owners = 0;

/** Rows that users' transactions write, and that nothing but them writes. */
export class Ledger {
  readonly owner = `owner-${++owners}`;
  readonly #subject: { readonly database: TestStore | undefined };

  constructor(subject: { readonly database: TestStore | undefined }) {
    this.#subject = subject;
  }

  async create(): Promise<this> {
    const identity = this.#engine.dialect === "postgres" ? "bigserial primary key" : "integer primary key";
    const text = `create table if not exists ledger (number ${identity}, owner text, amount integer, note text)`;
    await this.#engine.transaction((transaction) => transaction.query(text, []));
    return this;
  }

  async add(amount: number, note = ""): Promise<void> {
    const text = `insert into ledger (owner, amount, note) values ('${this.owner}', ${amount}, '${note}')`;
    await this.#engine.transaction((transaction) => transaction.query(text, []));
  }

  /** In a transaction of its own. */
  async double(): Promise<void> {
    const text = `update ledger set amount = 2 * amount where owner = '${this.owner}'`;
    await this.#engine.transaction((transaction) => transaction.query(text, []));
  }

  async amounts(): Promise<number[]> {
    const text = `select amount from ledger where owner = '${this.owner}' order by number`;
    const rows = await this.#engine.transaction((transaction) => transaction.query(text, []));
    return rows.map(({ amount }) => Number(amount));
  }

  get #engine() {
    const { database } = this.#subject;
    if (database === undefined) throw new Error("The database is there only while tests run.");
    return database.store.engine;
  }
}
