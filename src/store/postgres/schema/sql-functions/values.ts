import { MAX_LEVELS, TAG } from "../../../../values/tags.ts";
import type { SchemaPrefix } from "../../sql/statement.ts";
import { CALLED_AT, helperFunction } from "./sql-function.ts";

/** The default of every limit on values. An application's own limits aren't known to its database. */
const MOST_BYTES = 1024 * 1024;

/** How the functions make what TypeScript makes in `encodeValue` and `createIdGenerator`. */
export function valueFunctions(schema: SchemaPrefix): string[] {
  return [...escapeTags(schema), ...toValue(schema), ...createId(schema)];
}

/** JSON is stored as itself, but an object that has the tag's key is wrapped, so that it isn't taken for a tagged value. */
function escapeTags(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}escape_tags(value jsonb)`,
    returns: "jsonb",
    body: `declare
  escaped jsonb;
begin
  if jsonb_typeof(value) = 'array' then
    return (select coalesce(jsonb_agg(${schema}escape_tags(element) order by index), '[]')
      from jsonb_array_elements(value) with ordinality as item(element, index));
  elsif jsonb_typeof(value) = 'object' then
    select coalesce(jsonb_object_agg(item.key, ${schema}escape_tags(item.value)), '{}') into escaped from jsonb_each(value) as item;
    return case when escaped ? '${TAG}' then jsonb_build_object('${TAG}', 'object', 'value', escaped) else escaped end;
  end if;
  return value;
end`,
  });
}

/** The stored text of a value; SQL's null is JavaScript's undefined. */
function toValue(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}to_value(label text, given jsonb)`,
    returns: "text",
    body: `declare
  value text := given::text;
begin
  if given is null then return '{"${TAG}":"undefined"}'; end if;
  if strpos(value, '"${TAG}"') > 0 then value := ${schema}escape_tags(given)::text; end if;
  if octet_length(value) > ${MOST_BYTES} then
    perform ${schema}refuse('value.too_large', label || ' takes ' || octet_length(value) || ' bytes.',
      'Give at most ${MOST_BYTES} bytes of JSON. Store larger values in a table of your own, and give their id.');
  end if;
  if octet_length(value) > ${MAX_LEVELS} and given @? '$.**{${MAX_LEVELS}}' then
    perform ${schema}refuse('value.too_deep', label || ' is nested too deeply.', 'Give at most ${MAX_LEVELS} levels of JSON.');
  end if;
  return value;
end`,
  });
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * An id of 26 characters that sorts by time, as those of TypeScript: ten for the time, six that rise within a millisecond, and
 * ten at random.
 */
function createId(schema: SchemaPrefix): string[] {
  return [
    ...helperFunction({
      signature: `${schema}to_base32(value bigint, digits integer)`,
      returns: "text",
      body: `begin
  return (select string_agg(substr('${ALPHABET}', ((value >> (5 * place)) & 31)::integer + 1, 1), '' order by place desc)
    from generate_series(0, digits - 1) as place);
end`,
    }),
    ...helperFunction({
      signature: `${schema}create_id()`,
      returns: "text",
      volatile: true,
      body: `begin
  return ${schema}to_base32(${CALLED_AT}, 10) || ${schema}to_base32(nextval('${schema}relay_order'), 6)
    || right(gen_random_uuid()::text, 10);
end`,
    }),
  ];
}
