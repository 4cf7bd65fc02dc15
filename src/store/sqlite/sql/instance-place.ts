/** Where an instance stands. Index: perdure_instance_id. */
export const INSTANCE_PLACE = `
select class, available_at, namespace, name, slot_key, rate_key from perdure_instance where namespace = ? and name = ? and id = ?`;
