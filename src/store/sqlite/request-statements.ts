import {
  MOST_FORGOTTEN,
  type RememberedRequest,
  type RequestInsert,
  type RequestKey,
  type RequestStatements,
} from "../request-statements.ts";
import type { SqliteAccess } from "./drivers/driver.ts";
import {
  BEGIN_REQUEST,
  FIND_REQUEST,
  FINISH_REQUEST,
  FORGET_EXPIRED_REQUESTS,
  FORGET_REQUEST,
} from "./sql/requests.ts";

export class SqliteRequestStatements implements RequestStatements {
  readonly #access: SqliteAccess;

  constructor(access: SqliteAccess) {
    this.#access = access;
  }

  find(request: RequestKey): Promise<RememberedRequest | null> {
    return this.#access.read(() => this.#find(request));
  }

  begin(request: RequestInsert): Promise<RememberedRequest> {
    const { namespace, key, fingerprint, target, keepMs } = request;
    return this.#access.write(() => {
      const remembered = this.#find(request);
      if (remembered !== null) return remembered;
      const { driver, now } = this.#access;
      driver.run(BEGIN_REQUEST, [namespace, key, fingerprint, target, now() + keepMs]);
      return { fingerprint, target, answer: null };
    });
  }

  async finish({ namespace, key }: RequestKey, answer: string): Promise<void> {
    const { driver, now } = this.#access;
    await this.#access.write(() => {
      driver.run(FINISH_REQUEST, [namespace, key, answer]);
      driver.run(FORGET_EXPIRED_REQUESTS, [now()]);
    });
  }

  async forget({ namespace, key }: RequestKey): Promise<void> {
    await this.#access.write(() => this.#access.driver.run(FORGET_REQUEST, [namespace, key]));
  }

  async sweep(): Promise<boolean> {
    const { driver, now } = this.#access;
    return (await this.#access.write(() => driver.run(FORGET_EXPIRED_REQUESTS, [now()]))) === MOST_FORGOTTEN;
  }

  #find({ namespace, key }: RequestKey): RememberedRequest | null {
    const [row] = this.#access.driver.all(FIND_REQUEST, [namespace, key, this.#access.now()]);
    if (row === undefined) return null;
    const { fingerprint, target, answer } = row;
    return { fingerprint: fingerprint as string, target: target as string, answer: answer as string | null };
  }
}
