import {
  type Backlog,
  type BacklogStatements,
  type CountLimits,
  HOOK_LANES,
  INSTANCE_LANES,
  type QueueBacklog,
  toQueueBacklog,
} from "../queue/backlog.ts";
import type { WorkClass } from "../queue/work-class.ts";
import { toNumber } from "../rows.ts";
import type { SqliteAccess } from "./drivers/driver.ts";
import { COUNT_DEAD_LETTERS, countLanes } from "./sql/backlog.ts";

const COUNT_HOOKS = countLanes("perdure_hook");
const COUNT_INSTANCES = countLanes("perdure_instance");

export class SqliteBacklogStatements implements BacklogStatements {
  readonly #access: SqliteAccess;

  constructor(access: SqliteAccess) {
    this.#access = access;
  }

  /** Three statements. */
  read(namespace: string, limits: CountLimits): Promise<Backlog> {
    const { driver, now } = this.#access;
    const at = now();
    const count = (statement: string, lanes: readonly WorkClass[]): QueueBacklog =>
      toQueueBacklog(driver.all(statement, [namespace, at, limits.lane, JSON.stringify(lanes)]), at);
    return this.#access.read(() => ({
      hooks: count(COUNT_HOOKS, HOOK_LANES),
      instances: count(COUNT_INSTANCES, INSTANCE_LANES),
      deadLetters: toNumber(driver.all(COUNT_DEAD_LETTERS, [namespace, limits.deadLetters])[0]?.count ?? 0),
    }));
  }
}
