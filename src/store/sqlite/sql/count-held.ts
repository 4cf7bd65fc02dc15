/**
 * How many slots of a key others than this one have taken. A range of one class: of an equality and the condition of the index,
 * SQLite may search by the wider one, and read the whole line. Index: perdure_instance_slots.
 */
export const COUNT_HELD = `select count(*) as held from perdure_instance where slot_key = ? and class >= 2 and class <= 2 and ref <> ?`;
