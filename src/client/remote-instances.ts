import { checkId, LONGEST_ID } from "../names.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import type {
  AllInstanceCounts,
  CountOptions,
  InstanceListOptions,
  InstancePage,
} from "../workflows/instances/workflow-binding.ts";
import type { Connection } from "./connection.ts";
import { offerInstance } from "./remote-instance.ts";
import { fromWirePage, toCountQuery, toListQuery, type WirePage } from "./wire.ts";
import type { WorkflowNames } from "./workflow-names.ts";

/** What a client can do with the instances of all workflows: as in process. */
export interface ClientInstances {
  /** By the key or name of its workflow. Throws `instance.not_found`. */
  get(workflow: string, id: string): Promise<WorkflowInstance>;
  list(options?: InstanceListOptions): Promise<InstancePage>;
  counts(options?: CountOptions): Promise<AllInstanceCounts>;
}

/** The instances of all workflows on a server. */
export class RemoteInstances implements ClientInstances {
  readonly #connection: Connection;
  readonly #names: WorkflowNames;

  constructor(connection: Connection, names: WorkflowNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async get(workflow: string, id: string): Promise<WorkflowInstance> {
    checkId(id, "The id of an instance", LONGEST_ID);
    const name = await this.#names.findStored(workflow);
    await this.#connection.send({ method: "GET", path: ["workflows", name, "instances", id] });
    return offerInstance(this.#connection.lasting, name, id);
  }

  async list(options: InstanceListOptions = {}): Promise<InstancePage> {
    const query = toListQuery(options);
    const { body } = await this.#connection.send({ method: "GET", path: ["instances"], query });
    return fromWirePage(body as WirePage);
  }

  async counts(options: CountOptions = {}): Promise<AllInstanceCounts> {
    const { body } = await this.#connection.send({ method: "GET", path: ["stats"], query: toCountQuery(options) });
    return (body as { instances: AllInstanceCounts }).instances;
  }
}
