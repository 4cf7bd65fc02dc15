/** What an outcome has made of a hook. */
export const RESULT = `case when hook.available_at is not null then 'pending' when hook.error is not null then 'failed' else 'completed' end`;
