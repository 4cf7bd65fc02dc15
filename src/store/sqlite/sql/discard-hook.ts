/** Index: the primary key. */
export const DISCARD_HOOK = `delete from perdure_hook where namespace = ? and id = ? and available_at is null`;
