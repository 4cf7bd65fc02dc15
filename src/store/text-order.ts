/** The order of our text columns on every engine. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** All texts that begin like this come before it, in every database: it has the greatest character at the end. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
