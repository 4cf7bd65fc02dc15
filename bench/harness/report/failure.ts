/** A contender that couldn't be measured. */
export interface Failure {
  readonly contender: string;
  readonly engine: string;
  readonly work: string;
  readonly reason: string;
}

/** A line per contender and reason, so that a package that doesn't load is reported once, and not for every work. */
export function failureLines(failures: readonly Failure[]): string[] {
  const groups = Map.groupBy(failures, ({ contender, engine, reason }) => `${contender} on ${engine}: ${reason}`);
  return [...groups].map(([line, group]) => `${line} [${group.map(({ work }) => work).join(", ")}]`);
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` (${reasonOf(error.cause)})`;
  return `${error.name}: ${error.message}${cause}`;
}
