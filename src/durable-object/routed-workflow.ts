import { instanceNotFound, PerdureError } from "../errors.ts";
import type { WorkflowSettings } from "../workflows/define/workflow-settings.ts";
import { RoutedInstance } from "./routed-instance.ts";
import type { Shards } from "./shards.ts";

/** A workflow whose instances are in many objects: finds the object of an instance, and calls it. */
export class RoutedWorkflow {
  readonly shards: Shards;
  readonly limits: WorkflowSettings;
  readonly #name: string;

  constructor(shards: Shards, name: string, limits: WorkflowSettings) {
    this.shards = shards;
    this.limits = limits;
    this.#name = name;
  }

  instance(id: string, shard: number): RoutedInstance {
    return new RoutedInstance(this.shards, { workflow: this.#name, id, shard });
  }

  call(shard: number, operation: string, ...parameters: unknown[]): Promise<unknown> {
    return this.shards.call(shard, { workflow: this.#name, operation, id: null, parameters });
  }

  /** Asks all objects. */
  callAll(operation: string, ...parameters: unknown[]): Promise<unknown[]> {
    return Promise.all(this.shards.all.map((shard) => this.call(shard, operation, ...parameters)));
  }

  /** The object refuses an invalid id in a batch, together with the batch's other errors. */
  shardOf(id: unknown): number {
    try {
      return this.shards.of(id as string);
    } catch {
      return 0;
    }
  }

  /** In the object of its id; or elsewhere, if another instance created it, or if the number of objects was changed. */
  async find(id: string): Promise<number> {
    const home = this.shards.of(id);
    if (await this.#has(home, id)) return home;
    const elsewhere = await this.#findElsewhere(home, id);
    if (elsewhere === null) throw instanceNotFound(this.#name, id);
    return elsewhere;
  }

  /** Finds an instance that isn't in the object of its id; returns that object if no object has it. */
  async findOrHome(id: string): Promise<number> {
    const home = this.shards.of(id);
    return (await this.#findElsewhere(home, id)) ?? home;
  }

  async #findElsewhere(home: number, id: string): Promise<number | null> {
    const others = this.shards.all.filter((shard) => shard !== home);
    const found = await Promise.all(others.map(async (shard) => ((await this.#has(shard, id)) ? shard : null)));
    return found.find((shard) => shard !== null) ?? null;
  }

  async #has(shard: number, id: string): Promise<boolean> {
    try {
      const call = { workflow: this.#name, operation: "exists", id, parameters: [] };
      return (await this.shards.call(shard, call)) === true;
    } catch (error) {
      if (error instanceof PerdureError && error.code === "instance.not_found") return false;
      throw error;
    }
  }
}
