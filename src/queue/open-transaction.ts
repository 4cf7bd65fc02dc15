import { makeDetachable } from "../detachable.ts";
import type { Dialect } from "../store/dialect.ts";
import type { EngineTransaction } from "../store/engine.ts";
import { buildSql, checkParameters, checkText } from "../store/sql.ts";
import type { SqlRow, SqlValue } from "../store/sql-value.ts";
import { transactionFinished } from "../store/transaction-control.ts";
import type { OwnedTransaction } from "./owned-transaction.ts";

/** The transaction that a step's body, or a hook's handler, is given. */
export class OpenTransaction implements OwnedTransaction {
  readonly client: unknown;
  readonly #dialect: Dialect;
  readonly #transaction: EngineTransaction;
  #over = false;

  /** The engine's own statements. */
  static engineOf(open: OpenTransaction): EngineTransaction {
    return open.#transaction;
  }

  constructor(dialect: Dialect, transaction: EngineTransaction) {
    this.client = transaction.client;
    this.#dialect = dialect;
    this.#transaction = transaction;
  }

  async sql<Row extends SqlRow>(parts: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> {
    const { text, parameters } = buildSql(this.#dialect, parts, values);
    return this.query(text, parameters);
  }

  async query<Row extends SqlRow>(text: string, parameters: readonly SqlValue[] = []): Promise<Row[]> {
    if (this.#over) throw transactionFinished();
    return (await this.#transaction.query(checkText(text), checkParameters(parameters))) as Row[];
  }

  /** Its function has ended, or was given up: from now on it refuses everything. */
  finish(): void {
    this.#over = true;
  }
}

makeDetachable(OpenTransaction);
