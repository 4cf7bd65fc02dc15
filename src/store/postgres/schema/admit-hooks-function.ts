import { HOOK_KEYS } from "../../hooks/hook-lines.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { LOCKING_FUNCTION, NOW_IN_FUNCTION } from "./locking-function.ts";

/**
 * Admits hooks with limits, see `HookLine`. One transaction at a time admits from a namespace: a lock that ends with the
 * transaction, which is this one message. Another that comes meanwhile gets nothing and looks again. The statements after the
 * lock see what was committed before it, so no slot is given away twice. Hooks that another transaction has locked are left
 * out.
 *
 * The keys of a namespace begin with its name, so no statement names the namespace: PostgreSQL could read all of its hooks.
 * A bitmap would read all hooks of a key to sort them.
 * Indexes: `hook_line` finds the keys, one after the other, counts slots and gives the hooks of a key in order; `start_pkey`
 * counts starts.
 */
export function admitHooksFunction(schema: SchemaPrefix): string[] {
  return [
    `create function ${schema}admit_hooks(
  given_now bigint, given_namespace text, names text[], slots integer[], starts integer[], periods bigint[],
  room integer, token text, lease_ms bigint, after_key text, most_keys integer
) returns table (claimed ${schema}hook, previous_attempt_at bigint, due_at bigint, claimed_at bigint)
${LOCKING_FUNCTION} set enable_bitmapscan = off as $function$
#variable_conflict use_column
declare
  now_ms bigint;
  keys text[] := '{}';
  first_key text := '${HOOK_KEYS.from}' || given_namespace || '/';
  last_key text := '${HOOK_KEYS.from}' || given_namespace || '0';
  next_key text := greatest(after_key, first_key);
  wrapped boolean := after_key = '';
  admitted integer := 0;
  share integer;
  gained integer;
  held integer;
  rank smallint;
  place integer;
  used_up text[];
  candidate record;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('${schema}' || given_namespace, ${HOOK_KEYS.from.length})) then return; end if;
  now_ms := ${NOW_IN_FUNCTION};
  loop
    select hook.line_key into next_key from ${schema}hook as hook
    where hook.line_key > next_key and hook.line_key < last_key and hook.available_at is not null and hook.class >= ${WorkClass.leased}
    order by hook.line_key limit 1;
    if next_key is null then
      exit when wrapped;
      wrapped := true;
      next_key := first_key;
      continue;
    end if;
    exit when wrapped and after_key <> '' and next_key > after_key collate "C";
    keys := keys || next_key;
    exit when cardinality(keys) >= most_keys;
  end loop;
  share := greatest(room / greatest(cardinality(keys), 1), 1);

  for number in 1 .. cardinality(keys) loop
    exit when admitted >= room;
    gained := 0;
    used_up := '{}';
    select count(*) into held from ${schema}hook as hook
    where hook.line_key = keys[number] and hook.available_at is not null and hook.class = ${WorkClass.leased};
    <<serving>>
    foreach rank in array array[${WorkClass.lineContinuing}, ${WorkClass.lineFresh}]::smallint[] loop
      for candidate in
        select hook.id, hook.name, hook.rate_key, hook.attempts, hook.last_attempt_at, hook.available_at from ${schema}hook as hook
        where hook.line_key = keys[number] and hook.class = rank and hook.class >= ${WorkClass.leased}
          and hook.available_at <= now_ms and hook.name = any (names)
        order by hook.available_at, hook.id
        limit 1000
        for update skip locked
      loop
        exit serving when gained >= share or admitted >= room;
        place := array_position(names, candidate.name);
        exit serving when slots[place] is not null and held >= slots[place];
        if candidate.rate_key is not null and starts[place] is not null then
          continue when candidate.rate_key = any (used_up);
          delete from ${schema}start as start where start.key = candidate.rate_key and start.at <= now_ms - periods[place];
          if (select count(*) from ${schema}start as start where start.key = candidate.rate_key) >= starts[place] then
            used_up := used_up || candidate.rate_key;
            continue;
          end if;
          insert into ${schema}start (key, at, ref, run) values (candidate.rate_key, now_ms, candidate.id, candidate.attempts);
        end if;
        return query
        update ${schema}hook as hook set
          lock = token, class = ${WorkClass.leased}, available_at = now_ms + lease_ms, attempts = hook.attempts + 1,
          confirmed = false, last_attempt_at = now_ms
        where hook.namespace = any (array[given_namespace]) and hook.id = any (array[candidate.id])
        returning hook, candidate.last_attempt_at, candidate.available_at, now_ms;
        held := held + 1;
        gained := gained + 1;
        admitted := admitted + 1;
      end loop;
    end loop;
  end loop;
end
$function$`,
  ];
}
