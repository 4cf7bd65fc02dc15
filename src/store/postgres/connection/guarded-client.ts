import { PerdureError } from "../../../errors.ts";
import { refuseTransactionControl, transactionFinished } from "../../transaction-control.ts";
import { isInterruption, isRefusedAfterFailure } from "../errors.ts";
import type { PostgresClient } from "./driver.ts";

type Callback = (error: unknown, ...results: unknown[]) => void;
type Query = (...parameters: unknown[]) => unknown;

const KEPT = ["release", "end", "connect"];

/** A driver's client in the hands of a user's function, for the time of one transaction. */
export class GuardedClient {
  /** The client: it runs everything but what would begin or end a transaction, or give the connection away. */
  readonly client: PostgresClient;
  /** Whether the last statement that failed by itself was interrupted. See `EngineTransaction`. */
  interrupted = false;
  #over = false;

  constructor(client: PostgresClient) {
    const query = client.query.bind(client) as Query;
    const guarded: Query = (...parameters) => this.#query(query, parameters);
    this.client = new Proxy(client, {
      get: (target, property) => {
        if (property === "query") return guarded;
        if (KEPT.includes(String(property))) return () => refuse(String(property));
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** From now on it refuses everything. */
  finish(): void {
    this.#over = true;
  }

  /** Runs the last statement of the transaction, which is Perdure's own. */
  async last<Result>(statement: () => Promise<Result>): Promise<Result> {
    this.finish();
    try {
      return await statement();
    } catch (error) {
      this.#observe(error);
      throw error;
    }
  }

  /** A text, a query with a text, or a query object; with a callback, or for a promise. */
  #query(query: Query, parameters: unknown[]): unknown {
    const callback = parameters.at(-1);
    try {
      this.#check(parameters[0]);
    } catch (error) {
      if (typeof callback !== "function") return refused(error);
      queueMicrotask(() => (callback as Callback)(error));
      return undefined;
    }
    if (typeof callback === "function") {
      const observed: Callback = (error, ...results) => {
        if (error) this.#observe(error);
        (callback as Callback)(error, ...results);
      };
      return query(...parameters.slice(0, -1), observed);
    }
    const answer = query(...parameters);
    if (answer instanceof Promise) answer.catch((error: unknown) => this.#observe(error));
    return answer;
  }

  #check(given: unknown): void {
    if (this.#over) throw transactionFinished();
    const text = typeof given === "string" ? given : (given as { readonly text?: unknown } | null)?.text;
    if (typeof text === "string") refuseTransactionControl(text);
  }

  /** A statement failed. Statements that are refused only because an earlier one had failed say nothing new. */
  #observe(error: unknown): void {
    if (isRefusedAfterFailure(error)) return;
    this.interrupted = isInterruption(error);
  }
}

function refused(error: unknown): Promise<never> {
  const rejection = Promise.reject(error);
  rejection.catch(() => {}); // a call that isn't awaited must not end the process
  return rejection;
}

function refuse(method: string): never {
  throw new PerdureError(
    "transaction.control_refused",
    `${method}() was refused: the connection is Perdure's, which releases it when the transaction is over.`,
  );
}
