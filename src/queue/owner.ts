/**
 * An owner of leases. A token is the owner's name and a number that rises with each claim, so no two claims have the same
 * token.
 */
export interface Owner {
  readonly name: string;
  /** The name of its machine. An owner without one is short-lived, and isn't listed among the workers. */
  readonly host?: string;
  readonly pid?: number | null;
  /** Whether the process of that name is known to have ended. When in doubt, false: its leases run out by themselves. */
  isGone(name: string): boolean;
}

export function createTokens(owner: Owner): () => string {
  let count = 0;
  return () => `${owner.name}#${++count}`;
}

export function ownerOfToken(token: string): string {
  return token.slice(0, token.lastIndexOf("#"));
}
