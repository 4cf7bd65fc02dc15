export type Engine = "sqlite" | "postgres";

/** An implementation of the measured work: Perdure, a peer, or plain SQL. */
export interface Contender {
  readonly name: string;
  readonly role: "ours" | "peer" | "floor";
  readonly engine: Engine;
  /** What differs from the defaults, for the report. */
  readonly settings: string;
  /** Those whose versions belong in the report. */
  readonly packages?: readonly string[];
  /** The works that it takes part in, where not in all. */
  readonly works?: readonly string[];
}
