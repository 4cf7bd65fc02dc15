/**
 * In which order due work is taken: the class of a claimable row, a column of its own and part of the index that serves claims.
 *
 * - `leased`: somebody has claimed it. It comes up again only when that lease has run out, so it is taken over, one at a time.
 * - `continuing`: it was begun before: a retry, a wake, a resume, work that a stopping process gave back.
 * - `fresh`: it has never run.
 */
export const WorkClass = { continuing: 0, fresh: 1, leased: 2 } as const;

export type WorkClass = (typeof WorkClass)[keyof typeof WorkClass];
