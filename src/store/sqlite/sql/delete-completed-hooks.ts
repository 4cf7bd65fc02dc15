/** Completed hooks of one owner that nobody wants kept, and that nothing was triggered beside. Index: the primary key. */
export const DELETE_COMPLETED_HOOKS = `
delete from perdure_hook
where namespace = ? and id in (select value from json_each(?)) and lock = ? and next_at is null
returning id`;
