import { RELAY } from "../../../hooks/relay.ts";
import { WorkClass } from "../../../queue/work-class.ts";
import { isUnknown } from "../../sql/foreign-inserts.ts";
import type { SchemaPrefix } from "../../sql/statement.ts";
import { NAME_PATTERN, NAMES, NAMESPACE } from "./names.ts";
import { CALLED_AT, callersFunction } from "./sql-function.ts";

const FIELDS = ["id", "key", "debounce", "processAt", "retries", "namespace"];
const LONGEST_TEXT = 255;

/**
 * Triggers a hook when the transaction commits, as `triggerHook` does in TypeScript: with a key it is relayed. Gives the hook's
 * id. Index: hook_pkey.
 */
export function triggerHookFunction(schema: SchemaPrefix): string[] {
  return callersFunction({
    signature: `${schema}trigger_hook(name text, payload jsonb default null, options jsonb default null)`,
    returns: "text",
    body: `declare
  given jsonb := ${schema}check_options('options', options, array[${FIELDS.map((field) => `'${field}'`)}], 'trigger.invalid');
  hook_name text := ${schema}check_name('name', name, '${NAME_PATTERN}', 100, '${NAMES}', 'name.invalid');
  space text := ${NAMESPACE(schema)};
  own_id text := ${schema}check_text('options.id', given -> 'id', ${LONGEST_TEXT});
  own_key text := ${schema}check_text('options.key', given -> 'key', ${LONGEST_TEXT});
  due bigint := ${schema}parse_time('options.processAt', given -> 'processAt');
  policy jsonb := ${schema}parse_retries(given -> 'retries');
  quiet jsonb := ${schema}parse_debounce(given -> 'debounce');
  value text := '{"$perdure":"unchecked","value":' || ${schema}to_value('payload', payload) || '}';
  new_id text := coalesce(hook_name || '/' || own_id, ${schema}create_id());
  now_ms bigint := ${CALLED_AT};
begin
  if own_id is not null and own_key is not null then
    perform ${schema}refuse('trigger.invalid', 'options has an id and a key.',
      'Give an id, which stands for one call, or a key, under which many calls become one.');
  end if;
  if quiet is not null and (own_key is null or due is not null) then
    perform ${schema}refuse('trigger.invalid', 'options has debounce, but no key, or a processAt as well.',
      'Give debounce with a key and without processAt.');
  end if;
  perform ${schema}wake_workers();
  insert into ${schema}hook (namespace, id, name, payload, retries, own_id, created_at, triggered_at, class, available_at, attempts,
    relay_group, relay_order)
  select space, entry.id, entry.name, entry.payload, entry.retries, own_id is not null, now_ms, now_ms, ${WorkClass.fresh},
    entry.available_at, 0, entry.relay_group, case when entry.relay_group is not null then nextval('${schema}relay_order') end
  from (
    select new_id as id, hook_name as name, value::json as payload, policy::json as retries,
      greatest(coalesce(due, now_ms), now_ms) as available_at, null as relay_group
    where own_key is null
    union all
    select 'relay~' || new_id, '${RELAY}', json_build_object('kind', 'trigger', 'trigger', json_build_object(
      'id', new_id, 'ownId', false, 'name', hook_name, 'key', own_key, 'triggers', 1, 'payload', value, 'retries', policy::text,
      'trace', null, 'processAt', due, 'debounce', quiet)), null, now_ms, '["hook",' || to_json(hook_name) || ',' || to_json(own_key) || ']'
    where own_key is not null
  ) as entry
  where ${isUnknown(`select from ${schema}hook as known where known.namespace = space and known.id = entry.id`)}
  on conflict on constraint hook_pkey do nothing;
  return new_id;
end`,
  });
}
