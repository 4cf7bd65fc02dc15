import { LONGEST_ID, LONGEST_WORKFLOW_NAME, USUAL_ID } from "../../../../names.ts";
import { RELAY } from "../../../hooks/relay.ts";
import { WorkClass } from "../../../queue/work-class.ts";
import { isUnknown } from "../../sql/foreign-inserts.ts";
import type { SchemaPrefix } from "../../sql/statement.ts";
import { NAME_PATTERN, NAMES, NAMESPACE, WORKFLOW_NAMES, WORKFLOW_PATTERN } from "./names.ts";
import { CALLED_AT, callersFunction } from "./sql-function.ts";

/** The default of the limit on an instance's pending events. */
const MOST_PENDING = 10_000;

/**
 * Sends an event to an instance when the transaction commits, by a relay, as in TypeScript. Gives the event's id. An event of
 * one id is sent to an instance once. Index: hook_pkey.
 */
export function sendEventFunction(schema: SchemaPrefix): string[] {
  const name = (label: string, given: string, longest: number, code = "id.invalid") =>
    `${schema}check_name('${label}', ${given}, '${NAME_PATTERN}', ${longest}, '${NAMES}', '${code}')`;
  return callersFunction({
    signature: `${schema}send_event(workflow text, id text, type text, payload jsonb default null, options jsonb default null)`,
    returns: "text",
    body: `declare
  given jsonb := ${schema}check_options('options', options, array['id', 'namespace'], 'event.invalid');
  workflow_name text := ${schema}check_name('workflow', workflow, '${WORKFLOW_PATTERN}', ${LONGEST_WORKFLOW_NAME}, '${WORKFLOW_NAMES}', 'workflow.invalid_name');
  instance text := ${name("id", "id", LONGEST_ID)};
  event_type text := ${name("type", "type", LONGEST_ID)};
  space text := ${NAMESPACE(schema)};
  own_id text := case when given ? 'id' then ${name("The id of the event", "given ->> 'id'", USUAL_ID)} end;
  new_id text := coalesce(own_id, ${schema}create_id());
  event_id text := coalesce('own:' || own_id, new_id);
  value text := ${schema}to_value('payload', payload);
  address text := to_json(workflow_name) || ',' || to_json(instance);
  now_ms bigint := ${CALLED_AT};
begin
  perform ${schema}wake_workers();
  insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, class, available_at, attempts, relay_group, relay_order)
  select space, relay.id, '${RELAY}', json_build_object('kind', 'event', 'event', json_build_object(
    'name', workflow_name, 'id', instance, 'eventId', event_id, 'type', event_type, 'payload', value, 'maxPending', ${MOST_PENDING})),
    now_ms, now_ms, ${WorkClass.fresh}, now_ms, 0, '["instance",' || address || ']', nextval('${schema}relay_order')
  from (select 'relay~[' || address || ',' || to_json(event_id) || ']' as id) as relay
  where ${isUnknown(`select from ${schema}hook as known where known.namespace = space and known.id = relay.id`)}
  on conflict on constraint hook_pkey do nothing;
  return new_id;
end`,
  });
}
