import type { Meter } from "../../monitoring/meters/meter.ts";
import type { Engine } from "../engine.ts";
import { GroupCommit } from "../group-commit.ts";
import type { HookCount, HookInsert, HookSettlement, SettleResult } from "./hook-records.ts";
import type { HookStatements, InsertResult } from "./hook-statements.ts";
import { mergeTriggers } from "./merge-triggers.ts";

type Batch = readonly HookInsert[];

/** Hooks in the database: what many callers write at once goes through group commits, the rest straight to the engine. */
export class StoredHooks {
  readonly statements: HookStatements;
  readonly #engine: Engine;
  readonly #inserts: GroupCommit<Batch, InsertResult[]>;
  /** Triggers with keys are written in the order of asking, or a newer payload could be overtaken by an older. */
  readonly #keyedInserts: GroupCommit<Batch, InsertResult[]>;
  readonly #settlements: GroupCommit<HookSettlement, SettleResult>;
  readonly #counts: GroupCommit<HookCount, boolean>;

  constructor(engine: Engine, { flushes }: Pick<Meter, "flushes">) {
    const { clock, flushesInFlight, hooks } = engine;
    this.statements = hooks;
    this.#engine = engine;
    const flush = (batches: Batch[]) => insertBatches(batches, (triggers) => hooks.insert(triggers));
    const inserts = { clock, flush, measure: measureBatch, meter: flushes.trigger };
    this.#inserts = new GroupCommit({ ...inserts, flushesInFlight });
    this.#keyedInserts = new GroupCommit({ ...inserts, flushesInFlight: 1 });
    this.#settlements = new GroupCommit({
      clock,
      flush: (settlements, { resent }) =>
        hooks.settle(settlements, { resent: resent || settlements.some(({ again }) => again === true) }),
      flushesInFlight,
      measure: ({ outcome }) => ({ rows: 1, bytes: "error" in outcome ? outcome.error.length : 0 }),
      meter: flushes.settle,
    });
    this.#counts = new GroupCommit({
      clock,
      flush: (counts) => hooks.count(counts),
      flushesInFlight,
      measure: () => ({ rows: 1, bytes: 0 }),
    });
  }

  /** Writes triggers, all or none. */
  async insert(triggers: Batch): Promise<InsertResult[]> {
    this.#engine.refuseNesting();
    const keyed = triggers.some(({ key }) => key !== null);
    return (keyed ? this.#keyedInserts : this.#inserts).add(triggers);
  }

  settle(settlement: HookSettlement): Promise<SettleResult> {
    return this.#settlements.add(settlement);
  }

  /** Writes how often a hook was tried, and whether its attempt begins. Returns whether it is still its sender's. */
  count(count: HookCount): Promise<boolean> {
    return this.#counts.add(count);
  }

  /** Resolves when nothing is on its way to the database any more. */
  async idle(): Promise<void> {
    await Promise.all([this.#inserts.idle(), this.#keyedInserts.idle(), this.#settlements.idle(), this.#counts.idle()]);
  }
}

/** Writes the triggers of several callers as one, and hands each caller its own results. */
export async function insertBatches(
  batches: readonly Batch[],
  insert: (triggers: Batch) => Promise<InsertResult[]>,
): Promise<InsertResult[][]> {
  const { merged, indexes } = mergeTriggers(batches.flat());
  const results = await insert(merged);
  let next = 0;
  return batches.map((batch) =>
    batch.map(({ id }) => resultFor(id, results[indexes[next++] as number] as InsertResult)),
  );
}

/** A trigger that was merged into another's row has none of its own. */
function resultFor(id: string, result: InsertResult): InsertResult {
  return result.result === "inserted" && result.id !== id ? { ...result, result: "collapsed" } : result;
}

function measureBatch(batch: Batch): { rows: number; bytes: number } {
  let bytes = 0;
  for (const { payload } of batch) bytes += payload.length;
  return { rows: batch.length, bytes };
}
