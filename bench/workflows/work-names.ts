/** The works of this suite, in the order in which they run. */
export const WORK_NAMES = {
  one: "one at a time",
  many: "many at once",
  manyByDefault: "many at once, defaults",
  steps: "sequential steps",
  costs: "costs",
  costsInPostgres: "costs in PostgreSQL",
  inFlight: "100 and 2000 in flight",
  processes: "two processes",
} as const;

/** Those that compare ours with a floor. The others compare ours with ours. */
export const WORKS_OF_FLOORS = [
  WORK_NAMES.one,
  WORK_NAMES.many,
  WORK_NAMES.manyByDefault,
  WORK_NAMES.steps,
  WORK_NAMES.costs,
  WORK_NAMES.costsInPostgres,
];
