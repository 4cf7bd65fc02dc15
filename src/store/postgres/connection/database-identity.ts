import { readIdentity } from "../sql/foreign-inserts.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import type { Connection } from "./connection.ts";

/** Tells our database from all others. It is read once, by the first transaction of the application's. */
export class DatabaseIdentity {
  readonly #connection: Connection;
  readonly #schema: SchemaPrefix;
  #known: Promise<string> | undefined;

  constructor(connection: Connection, schema: SchemaPrefix) {
    this.#connection = connection;
    this.#schema = schema;
  }

  get(): Promise<string> {
    return this.#known ?? this.learn();
  }

  learn(): Promise<string> {
    const known = this.#read();
    this.#known = known;
    known.catch(() => {
      if (this.#known === known) this.#known = undefined;
    });
    return known;
  }

  async #read(): Promise<string> {
    const { rows } = await this.#connection.query({ text: readIdentity(this.#schema).text });
    return rows[0]?.["result"] as string;
  }
}
