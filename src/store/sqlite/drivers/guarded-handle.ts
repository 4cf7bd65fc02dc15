import { refuseTransactionControl, transactionFinished } from "../../transaction-control.ts";

type Method = (...parameters: unknown[]) => unknown;

/** Methods that take SQL: of node:sqlite and better-sqlite3, and of the storage of a Durable Object. */
const TAKES_SQL = ["exec", "prepare"];
const REFUSED = ["close", "transactionSync"];

/**
 * A database handle in the hands of a user's function, for the time of one transaction: it runs everything but what would begin
 * or end a transaction. Once that is over it refuses everything, and so do the statements that were prepared with it.
 */
export class GuardedHandle {
  readonly client: unknown;
  #over = false;

  constructor(handle: object) {
    this.client = this.#guard(handle);
  }

  /** From now on it refuses everything. */
  finish(): void {
    this.#over = true;
  }

  /** Throws if the transaction is over, or if the text would end it. */
  check(text: string): void {
    this.refuseOver();
    refuseTransactionControl(text);
  }

  refuseOver(): void {
    if (this.#over) throw transactionFinished();
  }

  #guard(target: object): unknown {
    return new Proxy(target, {
      get: (_target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value === "function") return this.#method(target, String(property), value as Method);
        return property === "sql" ? this.#guard(value as object) : value;
      },
    });
  }

  #method(target: object, name: string, method: Method): Method {
    return (...parameters) => {
      this.refuseOver();
      if (REFUSED.includes(name)) refuseTransactionControl(name === "close" ? "end" : "begin");
      if (TAKES_SQL.includes(name)) refuseTransactionControl(String(parameters[0]));
      const given = method.apply(target, parameters);
      return name === "prepare" ? this.#guard(given as object) : given;
    };
  }
}
