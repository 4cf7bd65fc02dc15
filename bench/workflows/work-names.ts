/** The works of this suite, in the order in which they run. */
export const WORK_NAMES = {
  one: "one at a time",
  many: "many at once",
  manyByDefault: "many at once, defaults",
  steps: "sequential steps",
  costs: "costs",
  costsInPostgres: "costs in PostgreSQL",
} as const;
