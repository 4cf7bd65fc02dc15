import type { Store } from "../src/store/store.ts";
import type { Ledger } from "./ledger.ts";
import type { Point, PointAction } from "./settings.ts";

/** The named points of a process. When it reaches the armed one, it ends or stops right there. */
export class Points {
  readonly #ledger: Ledger;
  #armed: { readonly point: Point; readonly action: PointAction } | undefined;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  arm(point: Point, action: PointAction): void {
    this.#armed = { point, action };
  }

  disarm(): void {
    this.#armed = undefined;
  }

  reach(point: Point): void {
    if (this.#armed?.point !== point) return;
    const { action } = this.#armed;
    this.#armed = undefined;
    this.#ledger.write("chaos", `${action} at point`, point);
    process.kill(process.pid, action === "kill" ? "SIGKILL" : "SIGSTOP");
  }
}

/** Makes a store pass the points that lie between its database and its callers. */
export function watchStore({ engine }: Store, points: Points): void {
  const { hooks, instances } = engine;
  const claim = hooks.claim.bind(hooks);
  const settle = hooks.settle.bind(hooks);
  const insert = hooks.insert.bind(hooks);
  const transaction = engine.transaction.bind(engine);
  Object.assign(hooks, {
    claim: async (...parameters: Parameters<typeof claim>) => {
      const claimed = await claim(...parameters);
      if (claimed.length > 0) points.reach("after-claim");
      return claimed;
    },
    settle: async (...parameters: Parameters<typeof settle>) => {
      points.reach("after-handler");
      const results = await settle(...parameters);
      points.reach("after-settle");
      return results;
    },
    insert: async (...parameters: Parameters<typeof insert>) => {
      const results = await insert(...parameters);
      points.reach("after-trigger");
      return results;
    },
  });
  const claimInstances = instances.claim.bind(instances);
  const commitInstances = instances.commit.bind(instances);
  const insertInstances = instances.insert.bind(instances);
  Object.assign(instances, {
    claim: async (...parameters: Parameters<typeof claimInstances>) => {
      const claimed = await claimInstances(...parameters);
      if (claimed.length > 0) points.reach("after-claim");
      return claimed;
    },
    commit: async (...parameters: Parameters<typeof commitInstances>) => {
      points.reach("before-steps-commit");
      const results = await commitInstances(...parameters);
      points.reach("after-steps-commit");
      return results;
    },
    insert: async (...parameters: Parameters<typeof insertInstances>) => {
      const results = await insertInstances(...parameters);
      points.reach("after-trigger");
      return results;
    },
  });
  Object.assign(engine, {
    transaction: async <Result>(body: Parameters<typeof transaction<Result>>[0]) => {
      const result = await transaction(body);
      points.reach("after-commit");
      return result;
    },
  });
}
