import type { SchemaPrefix } from "../../sql/statement.ts";
import { helperFunction } from "./sql-function.ts";

const HIGHEST_LIMIT = 10_000;

/** The SQLSTATE of every argument that isn't accepted. Its DETAIL has the code that the same mistake has in TypeScript. */
const INVALID_ARGUMENT = "22023";

/** How the functions check what they are given. `label` names the argument in errors. */
export function checkFunctions(schema: SchemaPrefix): string[] {
  return [refuse, checkOptions, checkName, checkText, parseDuration, parseTime, parseRetries, parseDebounce].flatMap(
    (one) => one(schema),
  );
}

function refuse(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}refuse(code text, problem text, accepted text)`,
    returns: "void",
    body: `begin
  raise exception using errcode = '${INVALID_ARGUMENT}', message = problem, detail = 'code: ' || code, hint = accepted;
end`,
  });
}

/** The options without those that are null: null stands for an option that wasn't given. */
function checkOptions(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}check_options(label text, given jsonb, fields text[], code text)`,
    returns: "jsonb",
    body: `declare
  unknown text;
begin
  if given is null or given = 'null'::jsonb then return '{}'::jsonb; end if;
  if jsonb_typeof(given) <> 'object' then
    perform ${schema}refuse(code, label || ' must be a JSON object, not a JSON ' || jsonb_typeof(given) || '.',
      'Give an object with any of the fields ' || array_to_string(fields, ', ') || '.');
  end if;
  select field into unknown from jsonb_object_keys(given) as field where field <> all (fields) limit 1;
  if unknown is not null then
    perform ${schema}refuse(code, label || ' has the field ' || to_json(left(unknown, 40)) || ', which isn''t known.',
      'The fields are ' || array_to_string(fields, ', ') || '.');
  end if;
  return jsonb_strip_nulls(given);
end`,
  });
}

/** Of a hook, a namespace, an instance or an event. */
function checkName(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}check_name(label text, given text, pattern text, longest integer, accepted text, code text)`,
    returns: "text",
    body: `begin
  if given is not null and length(given) <= longest and given ~ pattern then return given; end if;
  perform ${schema}refuse(code,
    label || case when given is null then ' is null.' else ' is ' || to_json(left(given, 40)) || ', which isn''t accepted.' end,
    'Give 1 to ' || longest || ' ' || accepted || '.');
end`,
  });
}

/** A key or an id of a hook, of the caller's own choice. */
function checkText(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}check_text(label text, given jsonb, longest integer)`,
    returns: "text",
    body: `begin
  if given is null then return null; end if;
  if jsonb_typeof(given) = 'string' and length(given #>> '{}') between 1 and longest and given #>> '{}' !~ '[\\x01-\\x1f\\x7f]' then
    return given #>> '{}';
  end if;
  perform ${schema}refuse('text.invalid', label || ' isn''t accepted.',
    'Give a text of 1 to ' || longest || ' characters without control characters.');
end`,
  });
}

/** Whole milliseconds, as in TypeScript: a number of them, or a text such as "10 seconds". */
function parseDuration(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}parse_duration(label text, given jsonb)`,
    returns: "bigint",
    body: `declare
  parts text[];
  unit numeric;
  milliseconds numeric;
begin
  if given is null then return null; end if;
  if jsonb_typeof(given) = 'number' then
    milliseconds := (given #>> '{}')::numeric;
  elsif jsonb_typeof(given) = 'string' then
    parts := regexp_match(given #>> '{}', '^\\s*(\\d{1,15}(?:\\.\\d{0,15})?)\\s+(millisecond|second|minute|hour|day|week|month|year)s?\\s*$');
    unit := case parts[2] when 'millisecond' then 1 when 'second' then 1000 when 'minute' then 60000 when 'hour' then 3600000
      when 'day' then 86400000 when 'week' then 604800000 when 'month' then 2592000000 when 'year' then 31557600000 end;
    milliseconds := rtrim(parts[1], '.')::numeric * unit;
  end if;
  if milliseconds between 0 and ${Number.MAX_SAFE_INTEGER} then return round(milliseconds); end if;
  perform ${schema}refuse('duration.invalid', label || ' is ' || left(given::text, 40) || ', which isn''t a duration.',
    'Give milliseconds as a number, or a text such as "10 seconds" with one of the units millisecond, second, minute, hour, day, week, month, year.');
end`,
  });
}

/** The end of the year 9999. */
const LATEST_TIME = 253_402_300_799_999;

/** A time never comes early, so fractions of a millisecond are rounded up. */
function parseTime(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}parse_time(label text, given jsonb)`,
    returns: "bigint",
    body: `declare
  milliseconds numeric;
begin
  if given is null then return null; end if;
  if jsonb_typeof(given) = 'number' then
    milliseconds := (given #>> '{}')::numeric;
  elsif given #>> '{}' ~ '^\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d(:?\\d\\d)?)$' then
    begin
      milliseconds := ceil(extract(epoch from (given #>> '{}')::timestamptz) * 1000);
    exception when data_exception then null; -- no such day, hour or time zone
    end;
  end if;
  if milliseconds = trunc(milliseconds) and abs(milliseconds) <= ${LATEST_TIME} then return milliseconds; end if;
  perform ${schema}refuse('trigger.invalid', label || ' is ' || left(given::text, 40) || ', which isn''t a time.',
    'Give a timestamp with a time zone, such as to_jsonb(now() + interval ''1 hour''), or whole milliseconds since the epoch.');
end`,
  });
}

function parseRetries(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}parse_retries(given jsonb)`,
    returns: "jsonb",
    body: `declare
  fields jsonb := ${schema}check_options('retries', given, array['limit', 'delay', 'backoff', 'maxDelay'], 'retries.invalid');
begin
  if given is null then return null; end if;
  if fields ? 'limit' and not (case when jsonb_typeof(fields -> 'limit') = 'number'
    then (fields ->> 'limit')::numeric between 0 and ${HIGHEST_LIMIT} and (fields ->> 'limit')::numeric = trunc((fields ->> 'limit')::numeric)
    else false end) then
    perform ${schema}refuse('retries.invalid', 'retries.limit is ' || left(fields ->> 'limit', 40) || ', which isn''t accepted.',
      'Give a whole number from 0 to ${HIGHEST_LIMIT}.');
  end if;
  if fields ? 'backoff' and fields ->> 'backoff' not in ('constant', 'linear', 'exponential') then
    perform ${schema}refuse('retries.invalid', 'retries.backoff is ' || left(fields ->> 'backoff', 40) || ', which isn''t accepted.',
      'Give constant, linear or exponential.');
  end if;
  return jsonb_strip_nulls(fields || jsonb_build_object(
    'delay', ${schema}parse_duration('retries.delay', fields -> 'delay'),
    'maxDelay', ${schema}parse_duration('retries.maxDelay', fields -> 'maxDelay')));
end`,
  });
}

/** A year. */
const LONGEST_DELAY_MS = 365 * 86_400_000;
/** Longer than any wait, and small enough to be added to any time in milliseconds. */
const UNBOUNDED_MS = 1e15;

function parseDebounce(schema: SchemaPrefix): string[] {
  return helperFunction({
    signature: `${schema}parse_debounce(given jsonb)`,
    returns: "jsonb",
    body: `declare
  fields jsonb;
  delay bigint;
  most bigint;
begin
  if given is null then return null; end if;
  if jsonb_typeof(given) <> 'object' then given := jsonb_build_object('delay', given); end if;
  fields := ${schema}check_options('debounce', given, array['delay', 'maxWait'], 'trigger.invalid');
  if not fields ? 'delay' then
    perform ${schema}refuse('trigger.invalid', 'debounce has no delay.', 'Give a duration, or an object with a delay.');
  end if;
  delay := ${schema}parse_duration('debounce.delay', fields -> 'delay');
  most := case when not fields ? 'maxWait' then 10 * delay when fields -> 'maxWait' = 'false'::jsonb then ${UNBOUNDED_MS.toFixed()}
    else ${schema}parse_duration('debounce.maxWait', fields -> 'maxWait') end;
  if delay > ${LONGEST_DELAY_MS} or most < delay then
    perform ${schema}refuse('trigger.invalid', 'debounce isn''t accepted.',
      'Give a delay of at most 365 days, and a maxWait that is as long or longer, or false.');
  end if;
  return jsonb_build_object('delayMs', delay, 'maxWaitMs', most);
end`,
  });
}
