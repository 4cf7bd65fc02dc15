/** In which order steps began, where the order of their first entries doesn't tell. */
export const STEP_STARTS = `alter table perdure_journal add column began integer;
`;
