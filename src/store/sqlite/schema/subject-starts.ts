/** When a subject was last claimed, and how many leases of it have run out in a row. */
export const SUBJECT_STARTS = `alter table perdure_subject add column last_started_at integer;
alter table perdure_subject add column timeouts integer not null default 0;
`;
