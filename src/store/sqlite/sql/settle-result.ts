export const RESULT = `case when available_at is not null then 'pending' when error is not null then 'failed' else 'completed' end`;
