/** The filters of a list that every way to find instances has. Parameters: ?1 namespace, ?2 name, ?3 limit, ?4 after, ?5 to ?8 times. */
const TIMES = `(?5 is null or instance.created_at >= ?5) and (?6 is null or instance.created_at < ?6)
  and (?7 is null or instance.finished_at >= ?7) and (?8 is null or instance.finished_at < ?8)`;

export interface ListShape {
  readonly order: "oldest" | "newest";
  readonly paged: boolean;
}

/** Refs of those that are finished in one way (?9), in their order. Index: perdure_instance_outcome, and nothing else is read. */
export function listFinishedRefs(shape: ListShape): string {
  return listRefs(shape, "instance.outcome = ?9");
}

/** Refs of those that aren't finished, in some statuses (?9, an array). Index: perdure_instance_outcome, then the primary key. */
export function listUnfinishedRefs(shape: ListShape): string {
  return listRefs(shape, "instance.outcome is null and instance.status in (select value from json_each(?9))");
}

function listRefs(shape: ListShape, condition: string): string {
  const { beyond, direction } = inOrder(shape, "instance");
  return `
select instance.ref from perdure_instance as instance indexed by perdure_instance_outcome
where instance.namespace = ?1 and instance.name = ?2 and ${condition} and ${beyond} and ${TIMES}
order by instance.ref ${direction}
limit ?3`;
}

/**
 * Refs of those that have a label (?10 and ?11) and all the others (?12, an array of keys and values), in some statuses (?9, an
 * array). Indexes: the primary key of perdure_label, then that of perdure_instance.
 */
export function listRefsByLabel(shape: ListShape): string {
  const { beyond, direction } = inOrder(shape, "label");
  return `
select label.ref from perdure_label as label cross join perdure_instance as instance on instance.ref = label.ref
where label.namespace = ?1 and label.name = ?2 and label.key = ?10 and label.value = ?11 and ${beyond}
  and instance.status in (select value from json_each(?9)) and ${TIMES}
  and not exists (
    select 1 from json_each(?12) as wanted
    where not exists (
      select 1 from perdure_label as other
      where other.namespace = ?1 and other.name = ?2 and other.key = wanted.value ->> 0 and other.value = wanted.value ->> 1
        and other.ref = label.ref
    )
  )
order by label.ref ${direction}
limit ?3`;
}

function inOrder({ order, paged }: ListShape, table: string) {
  const [comparison, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  return { beyond: paged ? `${table}.ref ${comparison} ?4` : "?4 is null", direction };
}
