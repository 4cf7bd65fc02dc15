import type { Duration } from "../duration.ts";
import type { Explanation } from "../monitoring/explanation.ts";
import type { InstanceState, SentEvent, UnreceivedEvents, WorkflowInstance } from "../workflows/instances/instance.ts";
import type { HistoryOptions, HistoryPage } from "../workflows/views/history-page.ts";
import type {
  StandardEventType,
  SubscribeOptions,
  WorkflowInstanceEventType,
  WorkflowInstanceSubscription,
} from "../workflows/views/instance-event.ts";
import { parseSubscribeOptions } from "../workflows/views/subscribe.ts";
import { RoutedSubscription } from "./routed-subscription.ts";
import type { Shards } from "./shards.ts";

/** Where an instance is: the name of its workflow, its id, and its object. */
export interface InstanceAddress {
  readonly workflow: string;
  readonly id: string;
  readonly shard: number;
}

/** One instance in one of many objects. */
export class RoutedInstance implements WorkflowInstance {
  readonly id: string;
  readonly workflowName: string;
  readonly #shards: Shards;
  readonly #address: InstanceAddress;

  constructor(shards: Shards, address: InstanceAddress) {
    this.id = address.id;
    this.workflowName = address.workflow;
    this.#shards = shards;
    this.#address = address;
  }

  async status(): Promise<InstanceState> {
    return (await this.#call("status")) as InstanceState;
  }

  /** A signal can't be sent along: it ends the waiting here. */
  async result(options: { readonly timeout?: Duration; readonly signal?: AbortSignal } = {}): Promise<unknown> {
    const { signal, ...sent } = options;
    signal?.throwIfAborted();
    const answer = this.#call("result", sent);
    if (signal === undefined) return answer;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    return Promise.race([answer, aborted]).finally(() => {
      signal.removeEventListener("abort", abort);
      answer.catch(() => {}); // its result is no longer needed
    });
  }

  async sendEvent(event: SentEvent<string, unknown>): Promise<void> {
    await this.#call("sendEvent", event);
  }

  async pause(...options: unknown[]): Promise<void> {
    await this.#call("pause", ...options);
  }

  async resume(): Promise<void> {
    await this.#call("resume");
  }

  async terminate(...options: unknown[]): Promise<void> {
    await this.#call("terminate", ...options);
  }

  async restart(...options: unknown[]): Promise<void> {
    await this.#call("restart", ...options);
  }

  async retryFailedStep(): Promise<void> {
    await this.#call("retryFailedStep");
  }

  async delete(): Promise<void> {
    await this.#call("delete");
  }

  async explain(): Promise<Explanation> {
    return (await this.#call("explain")) as Explanation;
  }

  async unreceivedEvents(): Promise<UnreceivedEvents> {
    return (await this.#call("unreceivedEvents")) as UnreceivedEvents;
  }

  async history(options: HistoryOptions = {}): Promise<HistoryPage> {
    return (await this.#call("history", options)) as HistoryPage;
  }

  /** Survives the loss of the object: it continues after the last delivered event. */
  async subscribe<const Type extends WorkflowInstanceEventType = StandardEventType>(
    options: SubscribeOptions<Type> = {},
  ): Promise<WorkflowInstanceSubscription<Type>> {
    parseSubscribeOptions(options); // reports mistakes here, before the object is called
    const { shard, workflow, id } = this.#address;
    const open = (cursor: number | undefined) => {
      const parameters = [{ ...options, ...(cursor !== undefined && { cursor }) }];
      return this.#shards.subscribe(shard, { workflow, operation: "subscribe", id, parameters });
    };
    const subscription = new RoutedSubscription(open, options.cursor);
    return (await subscription.connect()) as unknown as WorkflowInstanceSubscription<Type>;
  }

  #call(operation: string, ...parameters: unknown[]): Promise<unknown> {
    const { shard, workflow, id } = this.#address;
    return this.#shards.call(shard, { workflow, operation, id, parameters });
  }
}
