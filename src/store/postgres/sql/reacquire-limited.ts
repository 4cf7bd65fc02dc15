import { READS_ROW, type SchemaPrefix, type Statement } from "./statement.ts";

/** Before a slot is taken for it: whoever else would change it waits. Index: instance_pkey. */
export function lockParked(schema: SchemaPrefix): Statement {
  return {
    name: "lock_parked",
    text: `select instance.ref from ${schema}instance as instance where instance.ref = $1 for update`,
  };
}

/** While it is locked, nobody else takes a slot of its key. Its row is made, if nobody is in line. Indexes: instance_pkey, line_pkey. */
export function lockLine(schema: SchemaPrefix): Statement {
  return {
    name: "lock_line",
    text: `
insert into ${schema}line as line (kind, key, namespace, name)
select 0, $2, instance.namespace, instance.name from ${schema}instance as instance
where instance.ref = $1 and ${READS_ROW}
on conflict (kind, key) do update set blocked = line.blocked`,
  };
}

/** How many slots of a key others than this one have taken. Index: instance_slots. */
export function countOtherSlots(schema: SchemaPrefix): Statement {
  return {
    name: "count_other_slots",
    text: `
select count(*)::int as held from ${schema}instance as instance where instance.slot_key = $2 and instance.class = 2 and instance.ref <> $1`,
  };
}
