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
import { countDeadLetters, countLanes } from "./sql/backlog.ts";
import type { QueueTable } from "./sql/queue.ts";
import { PostgresStatements } from "./statements.ts";

export class PostgresBacklogStatements extends PostgresStatements implements BacklogStatements {
  /** Three statements, one after the other: a metric needs one connection, never more. */
  async read(namespace: string, limits: CountLimits): Promise<Backlog> {
    const hooks = await this.#count("hook", HOOK_LANES, namespace, limits.lane);
    const instances = await this.#count("instance", INSTANCE_LANES, namespace, limits.lane);
    const { rows } = await this.run(countDeadLetters, [namespace, limits.deadLetters]);
    return { hooks, instances, deadLetters: toNumber(rows[0]?.count ?? 0) };
  }

  async #count(
    table: QueueTable,
    lanes: readonly WorkClass[],
    namespace: string,
    limit: number,
  ): Promise<QueueBacklog> {
    const { rows } = await this.run(countLanes(table), [this.now(), namespace, limit, lanes]);
    return toQueueBacklog(rows, toNumber(rows[0]?.now ?? 0));
  }
}
