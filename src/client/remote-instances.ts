import type { AllInstanceCounts, InstanceListOptions, InstancePage } from "../workflows/instances/workflow-binding.ts";
import type { Transport } from "./transport.ts";
import { fromWirePage, type WirePage } from "./wire.ts";
import { toListQuery } from "./wire-options.ts";

/** The instances of all workflows on a server. */
export class RemoteInstances {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options: InstanceListOptions = {}): Promise<InstancePage> {
    const query = toListQuery(options);
    const { body } = await this.#transport.send({ method: "GET", path: ["instances"], query });
    return fromWirePage(body as WirePage);
  }

  async counts(): Promise<AllInstanceCounts> {
    const { body } = await this.#transport.send({ method: "GET", path: ["stats"] });
    return (body as { instances: AllInstanceCounts }).instances;
  }
}
