import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import type {
  SubscribeOptions,
  WorkflowInstanceEvent,
  WorkflowInstanceSubscription,
} from "../workflows/views/instance-event.ts";

type Result = IteratorResult<WorkflowInstanceEvent, void>;

/** Where a subscription lives: the process of the moment. */
interface Place {
  readonly instance: WorkflowInstance;
  readonly death: Promise<unknown>;
}

const DIED = Symbol("died");

/** A test may follow an instance while processes come and go: in the next one it continues after the last event that it has. */
export class TestSubscription implements WorkflowInstanceSubscription {
  readonly #place: () => Place;
  readonly #options: SubscribeOptions;
  #inner: { readonly subscription: WorkflowInstanceSubscription; readonly death: Promise<unknown> };
  #cursor: number | undefined;

  private constructor(
    place: () => Place,
    options: SubscribeOptions,
    inner: { subscription: WorkflowInstanceSubscription; death: Promise<unknown> },
  ) {
    this.#place = place;
    this.#options = options;
    this.#inner = inner;
    this.#cursor = options.cursor;
  }

  static async open(place: () => Place, options: SubscribeOptions = {}): Promise<TestSubscription> {
    return new TestSubscription(place, options, await openAt(place(), options));
  }

  async next(): Promise<Result> {
    for (;;) {
      const { subscription, death } = this.#inner;
      const result = await Promise.race([subscription.next(), death.then(() => DIED)]);
      if (typeof result !== "symbol") {
        if (result.done !== true) this.#cursor = result.value.eventId;
        return result;
      }
      const cursor = this.#cursor === undefined ? {} : { cursor: this.#cursor };
      this.#inner = await openAt(this.#place(), { ...this.#options, ...cursor });
    }
  }

  async return(): Promise<Result> {
    return this.#inner.subscription.return();
  }

  [Symbol.dispose](): void {
    this.#inner.subscription[Symbol.dispose]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

async function openAt({ instance, death }: Place, options: SubscribeOptions) {
  return { subscription: await instance.subscribe(options), death };
}
