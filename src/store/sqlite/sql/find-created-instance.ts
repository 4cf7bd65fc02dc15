/** Which instance has an id. Index: perdure_instance_id. */
export const FIND_CREATED_INSTANCE = `
select ref, parent, created_at from perdure_instance where namespace = ? and name = ? and id = ?`;
