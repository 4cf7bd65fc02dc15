import type { SchemaPrefix } from "./statement.ts";

/** Part of a statement that deletes instances: `gone` has the columns of their rows. Index: label_pkey. */
export function deleteLabels(schema: SchemaPrefix): string {
  const columns = ["namespace", "name", "key", "value", "ref"];
  return `delete from ${schema}label as label
  using (
    select gone.namespace, gone.name, pair.key, pair.value, gone.ref from gone cross join lateral json_each_text(gone.labels) as pair
  ) as item
  where ${columns.map((column) => `label.${column} = any (array[item.${column}])`).join(" and ")}`;
}
