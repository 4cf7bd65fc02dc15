import {
  MOST_FORGOTTEN,
  type RememberedRequest,
  type RequestInsert,
  type RequestKey,
  type RequestStatements,
} from "../request-statements.ts";
import { beginRequest, findRequest, finishRequest, forgetRequest, sweepRequests } from "./sql/requests.ts";
import { PostgresStatements } from "./statements.ts";

export class PostgresRequestStatements extends PostgresStatements implements RequestStatements {
  async find({ namespace, key }: RequestKey): Promise<RememberedRequest | null> {
    const { rows } = await this.run(findRequest, [this.now(), namespace, key]);
    return rows[0] === undefined ? null : toRequest(rows[0]);
  }

  /** If the request that has the key is forgotten between the insert and the read, the insert is tried again. */
  async begin(request: RequestInsert): Promise<RememberedRequest> {
    const { namespace, key, fingerprint, target, keepMs } = request;
    for (;;) {
      const { rows } = await this.run(beginRequest, [this.now(), namespace, key, fingerprint, target, keepMs]);
      const remembered = rows[0] === undefined ? await this.find(request) : toRequest(rows[0]);
      if (remembered !== null) return remembered;
    }
  }

  async finish({ namespace, key }: RequestKey, answer: string): Promise<void> {
    await this.run(finishRequest, [this.now(), namespace, key, answer]);
  }

  async sweep(): Promise<boolean> {
    return (await this.run(sweepRequests, [this.now()])).rowCount === MOST_FORGOTTEN;
  }

  async forget({ namespace, key }: RequestKey): Promise<void> {
    await this.run(forgetRequest, [namespace, key]);
  }
}

function toRequest({ fingerprint, target, answer }: Record<string, unknown>): RememberedRequest {
  return { fingerprint: fingerprint as string, target: target as string, answer: answer as string | null };
}
