/** Due rows of one name, as far as they were read. */
export interface DueName {
  readonly kind: "hook" | "instance";
  readonly namespace: string;
  readonly name: string;
  readonly rows: number;
  /** Since when the first of them has been due. */
  readonly since: number;
}

/**
 * Asks which names of hooks and workflows have due rows. Rows that no worker claims are the oldest of their lanes sooner or
 * later, so only the beginning of each lane is read, however long the queue is.
 */
export interface UnclaimedQuestion {
  readonly namespaces: readonly string[];
  /** How many rows of each lane are read. */
  readonly depth: number;
  /** Called with the answer, if there are due rows. */
  readonly found: (names: readonly DueName[]) => void;
}

/** An answer as JSON: `[kind, namespace, name, rows, since]` of each. A text, or what the driver made of it. */
export function tellDueNames({ found }: UnclaimedQuestion, answer: unknown): void {
  const rows = (typeof answer === "string" ? JSON.parse(answer) : (answer ?? [])) as [
    string,
    string,
    string,
    number,
    number,
  ][];
  if (rows.length === 0) return;
  found(
    rows.map(([kind, namespace, name, count, since]) => ({
      kind: kind as DueName["kind"],
      namespace,
      name,
      rows: count,
      since,
    })),
  );
}
