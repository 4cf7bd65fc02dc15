import { invalidToken } from "../errors.ts";
import { type ActivityOptions, type ActivityReport, checkActivityOptions } from "../monitoring/activity-report.ts";
import type { Health } from "../monitoring/health.ts";
import type { LineListOptions, LinePage } from "../monitoring/list-lines.ts";
import type { UnclaimedWork } from "../monitoring/list-unclaimed.ts";
import type { WorkerSummary } from "../monitoring/list-workers.ts";
import type { Metrics } from "../monitoring/metrics.ts";
import type { Connection } from "./connection.ts";
import {
  fromWireActivity,
  fromWireHealth,
  fromWireLines,
  fromWireMetrics,
  fromWireWorker,
  toWire,
  type WireLines,
  type WireWorker,
} from "./wire.ts";

/** Calls that concern a whole application on a server. */
export class RemoteApplication {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async completeToken(token: string, payload?: unknown): Promise<void> {
    if (typeof token !== "string" || token === "") throw invalidToken();
    const body = payload === undefined ? {} : { payload: toWire(payload) };
    await this.#connection.send({ method: "POST", path: ["tokens", token], body });
  }

  async dispatcherIds(): Promise<readonly string[]> {
    const { body } = await this.#connection.send({ method: "GET", path: ["subjects"] });
    return (body as { readonly dispatchers: readonly string[] }).dispatchers;
  }

  async workers(): Promise<WorkerSummary[]> {
    const { body } = await this.#connection.send({ method: "GET", path: ["workers"] });
    return (body as { workers: WireWorker[] }).workers.map(fromWireWorker);
  }

  async unclaimed(): Promise<UnclaimedWork[]> {
    const { body } = await this.#connection.send({ method: "GET", path: ["workers", "unclaimed"] });
    const { unclaimed } = body as { unclaimed: readonly (Omit<UnclaimedWork, "since"> & { readonly since: string })[] };
    return unclaimed.map(({ since, ...rest }) => ({ ...rest, since: new Date(since) }));
  }

  async lines(options: LineListOptions = {}): Promise<LinePage> {
    const query = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]));
    const { body } = await this.#connection.send({ method: "GET", path: ["lines"], query });
    return fromWireLines(body as WireLines);
  }

  async health(): Promise<Health> {
    const { body } = await this.#connection.send({ method: "GET", path: ["health", "ready"], accepts: 503 });
    return fromWireHealth(body);
  }

  async metrics(): Promise<Metrics> {
    const { body } = await this.#connection.send({ method: "GET", path: ["metrics"] });
    return fromWireMetrics(body);
  }

  async activity(options?: ActivityOptions): Promise<ActivityReport> {
    const query = { minutes: String(checkActivityOptions(options).minutes) };
    const { body } = await this.#connection.send({ method: "GET", path: ["activity"], query });
    return fromWireActivity(body);
  }
}
