/** When to look at a line again. Index: the primary key. */
export const SETTLE_LINE = `update perdure_line set blocked = ?, available_at = ? where kind = ? and key = ?`;

/** A line that nobody is in, and of which nobody holds a slot. Index: the primary key, then perdure_instance_slots. */
export const DROP_LINE = `
delete from perdure_line
where kind = ?1 and key = ?2
  and not (kind = 0 and exists (select 1 from perdure_instance where slot_key = ?2 and class >= 2))`;
