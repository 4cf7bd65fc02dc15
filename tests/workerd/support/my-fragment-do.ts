import { DurableObject } from "cloudflare:workers";
import { createDurableHooksProcessor, migrate } from "perdure";
import { createDurableHooksDispatcherDurableObject } from "perdure/dispatchers/cloudflare-do";
import type { ObjectState as DurableObjectState } from "perdure/durable-object";
import { createMyFragmentServer, type MyFragment } from "./my-fragment.ts";

type Env = unknown;

/** The sample of the documentation of durable hooks, as it stands. */
export class MyFragmentDO extends DurableObject<Env> {
  fragment: MyFragment;
  handler: ReturnType<ReturnType<typeof createDurableHooksDispatcherDurableObject>>;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);

    this.fragment = createMyFragmentServer({ env, state, type: "live" });
    // biome-ignore lint/nursery/noFloatingPromises: the sample doesn't wait for it
    state.blockConcurrencyWhile(async () => {
      await migrate(this.fragment);
    });

    // Keep the dispatcher in the same DO instance that owns the fragment.
    const processor = createDurableHooksProcessor(this.fragment);
    if (!processor) {
      throw new Error("Fragment has no durable hooks configured.");
    }

    this.handler = createDurableHooksDispatcherDurableObject({
      createProcessor: () => processor,
    })(state, env);
  }

  alarm() {
    return this.handler.alarm?.();
  }
}
