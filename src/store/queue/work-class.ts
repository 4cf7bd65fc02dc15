/**
 * In which order due work is taken: the class of a claimable row, a column of its own and part of the index that serves claims.
 *
 * - `leased`: a worker has claimed it. It is due again only when the lease has expired, and is then taken over, one row at a time.
 * - `continuing`: it was begun before: a retry, a wake, a resume, work that a stopping process gave back.
 * - `fresh`: it has never run.
 * - `urgent`, `patient`: it has never run, and has a priority above or below that of most.
 * - `lineContinuing`, `lineFresh`: the same as continuing and fresh, but it stands in a line: only so many of those that share its
 *   key run or start at a time. No claim reads these; see `Admission`.
 */
export const WorkClass = {
  continuing: 0,
  fresh: 1,
  leased: 2,
  urgent: 3,
  patient: 4,
  lineContinuing: 5,
  lineFresh: 6,
} as const;

export type WorkClass = (typeof WorkClass)[keyof typeof WorkClass];
