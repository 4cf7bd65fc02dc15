/** What scripts can rely on; `docs/cli.md` lists them. */
export const ExitCode = {
  ok: 0,
  /** Something failed that has no code of its own. */
  failed: 1,
  /** The command line itself is wrong, or asks for something that isn't accepted. */
  usage: 2,
  /** `doctor`, `migrate --check` and `replay` have found a problem. */
  problem: 3,
  notFound: 4,
  /** It contradicts the stored state. */
  conflict: 5,
  /** The database or the server can't be reached. */
  unreachable: 6,
  /** The server doesn't know the caller, or doesn't allow it. */
  forbidden: 7,
  /** Some items of a bulk action failed. */
  partly: 8,
  /** The question was answered with no. */
  declined: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
