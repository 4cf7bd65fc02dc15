export interface FloodSettings {
  /** A path or a URL. */
  readonly database: string;
  /** How many hooks to trigger. */
  readonly hooks: number;
  /** How many callers trigger at the same time, each as soon as its last trigger is accepted. */
  readonly callers: number;
}

export interface FloodReport {
  /** Triggers that were said to be stored. */
  readonly accepted: number;
  /** How many of those ran. */
  readonly ran: number;
  /** How many ran more than once. */
  readonly ranAgain: number;
  /** Hooks that waited or ran when the application was stopped in the middle. */
  readonly leftAtStop: number;
  /** What the database still has when all is over. */
  readonly leftAtEnd: number;
  readonly seconds: number;
  readonly peakHeapMegabytes: number;
}
