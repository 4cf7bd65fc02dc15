export type Engine = "sqlite" | "postgres";

/** An implementation of the measured work: Perdure, a peer, or plain SQL. */
export interface Contender {
  readonly name: string;
  readonly role: "ours" | "peer" | "floor";
  readonly engine: Engine;
  /** The settings that differ from the defaults, for the report. */
  readonly settings: string;
  /** The packages whose versions belong in the report. */
  readonly packages?: readonly string[];
  /** The works that it takes part in, if not all. */
  readonly works?: readonly string[];
}
