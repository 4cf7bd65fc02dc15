/**
 * Whether the present owner has written that it begins. Only owners of what was taken over do, and of hooks on their last attempt:
 * of those it must be known whether a lost owner had begun.
 */
export const CONFIRMATIONS = `alter table perdure_hook add column confirmed integer not null default 0;
alter table perdure_instance add column confirmed integer not null default 0;
`;
