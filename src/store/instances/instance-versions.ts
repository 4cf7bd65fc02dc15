/** The version of the instances of a workflow without one. It comes before all others. */
export const NO_VERSION = 0;

/** The highest version that a workflow can have: databases store it in four bytes. */
export const HIGHEST_VERSION = 2_147_483_647;

/** The version of an instance that was created in SQL, until its first owner gives it the newest that it has. */
export const UNDECIDED_VERSION: number = -1;

/** Names a version of a workflow, in the scopes of claims. No name of a workflow has an @. */
export function versionName(name: string, version: number): string {
  return version === NO_VERSION ? name : `${name}@${version}`;
}

/** How many unfinished instances a version of a workflow has. */
export interface VersionCount {
  readonly name: string;
  readonly version: number;
  readonly count: number;
}
