/** What a handler does with an item. */
export type HookName = "note" | "effect" | "slow" | "flaky" | "refuse" | "exhaust" | "waver" | "late" | "poison";

/** How an item is asked for. */
export type Way =
  | "trigger"
  /** Twice, with an id from the application. */
  | "trigger twice"
  /** Together with a row of the application, in one transaction. */
  | "unit of work"
  | "own transaction"
  /** The same, but rolled back. */
  | "rolled back";

export interface Kind {
  readonly hook: HookName;
  readonly ways: readonly Way[];
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
  /** What must come of it. */
  readonly fate: "finished" | "dead letter" | "nothing";
  /** Whether the handler writes into the database. */
  readonly effect?: boolean;
  /** Whether a row of the application is written with it. */
  readonly row?: boolean;
  /** Keys of one lane, whose triggers have a known order, or keys that all lanes share. */
  readonly key?: "own" | "shared";
  /**
   * A dead letter of its first attempt is fine, too, but not one of a later attempt: that one comes from an owner that has lost
   * it.
   */
  readonly mayFailAtFirst?: boolean;
  /** Not before a time. */
  readonly later?: boolean;
}

/** The kinds of items, each a line of the final table. */
export const KINDS = {
  plain: { hook: "note", ways: ["trigger"], weight: 10, fate: "finished" },
  later: { hook: "note", ways: ["trigger"], weight: 3, fate: "finished", later: true },
  "own id": { hook: "effect", ways: ["trigger twice"], weight: 3, fate: "finished", effect: true },
  effect: { hook: "effect", ways: ["trigger"], weight: 8, fate: "finished", effect: true },
  "with a row": {
    hook: "effect",
    ways: ["unit of work", "own transaction"],
    weight: 8,
    fate: "finished",
    effect: true,
    row: true,
  },
  "rolled back": { hook: "effect", ways: ["rolled back"], weight: 3, fate: "nothing", effect: true, row: true },
  keyed: { hook: "note", ways: ["trigger", "trigger", "own transaction"], weight: 8, fate: "finished", key: "own" },
  "shared key": { hook: "note", ways: ["trigger", "unit of work"], weight: 6, fate: "finished", key: "shared" },
  slow: { hook: "slow", ways: ["trigger"], weight: 0.15, fate: "finished" },
  flaky: { hook: "flaky", ways: ["trigger"], weight: 3, fate: "finished" },
  refused: { hook: "refuse", ways: ["trigger", "unit of work"], weight: 2, fate: "dead letter" },
  exhausted: { hook: "exhaust", ways: ["trigger"], weight: 1, fate: "dead letter" },
  wavering: { hook: "waver", ways: ["trigger twice"], weight: 3, fate: "finished", mayFailAtFirst: true },
  late: { hook: "late", ways: ["trigger twice"], weight: 0.02, fate: "finished", mayFailAtFirst: true },
  poison: { hook: "poison", ways: ["trigger"], weight: 0.02, fate: "dead letter" },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

export function kindOf(name: KindName): Kind {
  return KINDS[name];
}

/** Rare kinds, which every producer creates early in its life, so that no run is without them. */
export const SURE: readonly KindName[] = ["late", "poison"];

/** What a hook is triggered with. */
export interface Item {
  readonly id: string;
  readonly kind: KindName;
}

/** Innocent items are retried for as long as chaos lasts; others get few attempts, so that they end. */
export const INNOCENT_RETRIES = { limit: 200, delay: 50, maxDelay: 500 } as const;
export const FEW_RETRIES = { limit: 2, delay: 50, maxDelay: 500 } as const;
