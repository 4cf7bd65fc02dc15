import { LONGEST_ID, LONGEST_WORKFLOW_NAME } from "../../../../names.ts";
import { LONGEST_TIMEOUT_MS } from "../../../instances/instance-records.ts";
import { UNDECIDED_VERSION } from "../../../instances/instance-versions.ts";
import { HIGHEST_PRIORITY, LOWEST_PRIORITY } from "../../../queue/rank.ts";
import { isUnknown } from "../../sql/foreign-inserts.ts";
import { freshClass, freshTime } from "../../sql/instances/instance-inserts.ts";
import type { SchemaPrefix } from "../../sql/statement.ts";
import { NAME_PATTERN, NAMES, NAMESPACE, WORKFLOW_NAMES, WORKFLOW_PATTERN } from "./names.ts";
import { CALLED_AT, callersFunction, helperFunction } from "./sql-function.ts";

const FIELDS = ["onConflict", "priority", "labels", "retention", "timeout", "namespace"];

/** Labels as they are stored: sorted by key. */
function parseLabels(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}parse_labels(given jsonb)`,
    returns: "json",
    body: `declare
  bad text;
begin
  if given is null or given = '{}'::jsonb then return null; end if;
  if jsonb_typeof(given) <> 'object' then
    bad := 'they aren''t an object';
  elsif (select count(*) from jsonb_object_keys(given)) > 16 then
    bad := 'there are more than 16';
  else
    select to_json(left(label.key, 64)) || ' isn''t accepted' into bad from jsonb_each(given) as label
    where label.key !~ '^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,63}$' or jsonb_typeof(label.value) <> 'string'
      or length(label.value #>> '{}') not between 1 and 256 or label.value #>> '{}' ~ '[\\x01-\\x1f\\x7f]'
    limit 1;
  end if;
  if bad is not null then
    perform ${schema}refuse('create.invalid', 'options.labels isn''t accepted: ' || bad || '.',
      'Give an object of at most 16 texts: keys of 1 to 64 letters, digits and . : / _ -, values of 1 to 256 characters.');
  end if;
  return (select json_object_agg(label.key, label.value order by label.key collate "C") from jsonb_each(given) as label);
end`,
  });
}

/**
 * Creates an instance when the transaction commits. An id that exists is no error, unless the caller asks for one: an error
 * would end the transaction. Its params are marked as unchecked, so that the worker that claims it applies the workflow's
 * version, schema, limits, retention and timeout. Indexes: instance_pkey, instance_id, label_pkey.
 */
export function createWorkflowFunction(schema: SchemaPrefix): string[] {
  const fields = FIELDS.map((field) => `'${field}'`);
  return [
    ...parseLabels(schema),
    ...callersFunction({
      signature: `${schema}create_workflow(name text, id text default null, params jsonb default null, options jsonb default null, out instance_id text, out created boolean)`,
      returns: "record",
      body: `declare
  given jsonb := ${schema}check_options('options', options, array[${fields}], 'create.invalid');
  workflow text := ${schema}check_name('name', name, '${WORKFLOW_PATTERN}', ${LONGEST_WORKFLOW_NAME}, '${WORKFLOW_NAMES}', 'workflow.invalid_name');
  space text := ${NAMESPACE(schema)};
  new_ref text := ${schema}create_id();
  value text := '{"$perdure":"unchecked","value":' || ${schema}to_value('params', params) || '}';
  label_texts json := ${schema}parse_labels(given -> 'labels');
  retention jsonb := ${schema}check_options('options.retention', given -> 'retention', array['successRetention', 'errorRetention'], 'create.invalid');
  kept_success bigint := ${schema}parse_duration('successRetention', retention -> 'successRetention');
  kept_error bigint := ${schema}parse_duration('errorRetention', retention -> 'errorRetention');
  longest bigint := least(${schema}parse_duration('timeout', given -> 'timeout'), ${LONGEST_TIMEOUT_MS});
  conflict text := coalesce(given ->> 'onConflict', 'return');
begin
  instance_id := ${schema}check_name('id', coalesce(id, new_ref), '${NAME_PATTERN}', ${LONGEST_ID}, '${NAMES}', 'id.invalid');
  if conflict not in ('return', 'error') then
    perform ${schema}refuse('create.invalid', 'options.onConflict is ' || to_json(left(conflict, 40)) || ', which isn''t accepted.',
      'Give return, which leaves an existing instance alone, or error, which fails the transaction.');
  end if;
  if given ? 'priority' and (jsonb_typeof(given -> 'priority') <> 'number' or given ->> 'priority' !~ '^-?\\d{1,3}$'
    or (given ->> 'priority')::numeric not between ${LOWEST_PRIORITY} and ${HIGHEST_PRIORITY}) then
    perform ${schema}refuse('create.invalid', 'options.priority is ' || left(given ->> 'priority', 40) || ', which isn''t accepted.',
      'Give a whole number from ${LOWEST_PRIORITY} to ${HIGHEST_PRIORITY}; higher ones start first.');
  end if;
  with created_instance as (
    insert into ${schema}instance (ref, namespace, name, id, version, params, created_at, class, available_at, labels, priority,
      success_retention, error_retention, timeout, deadline)
    select new_ref, space, workflow, instance_id, ${UNDECIDED_VERSION}, value::json, clock.now, ${freshClass("trait")}, ${freshTime("trait")}, label_texts,
      trait.priority, kept_success, kept_error, longest, clock.now + longest
    from (select ${CALLED_AT} as now) as clock
    cross join (select coalesce((given ->> 'priority')::smallint, 0) as priority, null as slot_key, null as rate_key) as trait
    where ${isUnknown(`select from ${schema}instance as known where known.namespace = space and known.name = workflow and known.id = instance_id`)}
    on conflict do nothing
    returning true
  ),
  labelled as (
    insert into ${schema}label (namespace, name, key, value, ref)
    select space, workflow, label.key, label.value, new_ref from created_instance cross join json_each_text(label_texts) as label
  )
  select count(*) > 0 into created from created_instance;
  if created then
    perform ${schema}wake_workers();
  elsif conflict = 'error' then
    raise exception using errcode = '23505', message = 'The workflow ' || to_json(workflow) || ' has an instance ' || to_json(instance_id) || ' already.',
      detail = 'code: instance.already_exists', hint = 'Give another id, or leave out onConflict to keep that one.';
  end if;
end`,
    }),
  ];
}
