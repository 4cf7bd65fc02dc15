import type { Contender, Engine } from "./contender.ts";
import type { Direction } from "./report/result.ts";

/** One thing to measure. */
export interface Work<Contestant extends Contender, Scale> {
  readonly name: string;
  readonly engines: readonly Engine[];
  /** The figures that `run` returns, in this order. */
  readonly figures: readonly Figure[];
  /** How it is measured, for the report. */
  readonly method: (scale: Scale) => string;
  /** Whether contenders are measured at the same time, and only once. Accurate only on an otherwise idle machine. */
  readonly together?: boolean;
  run(contender: Contestant, database: string, scale: Scale): Promise<readonly number[]>;
}

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly better: Direction;
}
