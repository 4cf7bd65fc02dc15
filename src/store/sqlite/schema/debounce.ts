/** How far a waiting hook with a key may be put off by debounced triggers; null is not at all. See `keyedTimes`. */
export const DEBOUNCE = `alter table perdure_hook add column latest_at integer;
`;
