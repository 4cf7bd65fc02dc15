import { MOST_ENTRIES_SEARCHED } from "../../instances/instance-records.ts";
import { inOrder, type ListShape, TIMES } from "./instances-read.ts";

/**
 * Those of some instances (?9, an array of refs) that the filters of a list leave: statuses (?10, an array) and labels (?11, an
 * array of keys and values). Indexes: both primary keys.
 */
export function filterRefs(shape: Omit<ListShape, "ended">): string {
  const { beyond, direction } = inOrder({ ...shape, ended: false }, "instance", "");
  return `
select instance.ref from json_each(?9) as wanted cross join perdure_instance as instance on instance.ref = wanted.value
where instance.namespace = ?1 and (?2 is null or instance.name = ?2) and ${beyond}
  and instance.status in (select value from json_each(?10)) and ${TIMES}
  and not exists (
    select 1 from json_each(?11) as pair
    where not exists (
      select 1 from perdure_label as label
      where label.namespace = ?1 and label.name = instance.name and label.key = pair.value ->> 0 and label.value = pair.value ->> 1
        and label.ref = instance.ref
    )
  )
order by instance.ref ${direction}
limit ?3`;
}

/** Instances of a workflow whose ids are in a range. Index: perdure_instance_id. */
export const FIND_REFS_BY_ID = `
select ref from perdure_instance where namespace = ?1 and name = ?2 and id >= ?3 and id < ?4 limit ?5`;

/**
 * Compares instances (?1, an array of refs) with criteria: the beginning of the id (?2) and of the parent (?4), the version
 * (?3), and the name of a step (?5). Errors are read if ?6 says so. Indexes: both primary keys.
 */
export const COMPARE_INSTANCES = `
select instance.namespace, instance.name, instance.id, instance.ref, instance.run, case when ?6 then instance.error end as error,
  (?2 is null or substr(instance.id, 1, length(?2)) = ?2) and (?3 is null or instance.version = ?3)
  and (?4 is null or coalesce(substr(instance.parent, 1, length(?4)) = ?4, false))
  and (?5 is null or exists (
    select 1 from (
      select entry.name from perdure_journal as entry where entry.ref = instance.ref and entry.run = instance.run
      order by entry.position desc
      limit ${MOST_ENTRIES_SEARCHED}
    ) as recent
    where recent.name = ?5
  )) as matches
from json_each(?1) as wanted cross join perdure_instance as instance on instance.ref = wanted.value`;
