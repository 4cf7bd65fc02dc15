import { LineKind } from "../../lines/line-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { LOCKING_FUNCTION, NOW_IN_FUNCTION } from "./locking-function.ts";

/**
 * Admits instances from lines. Each element of the arrays is a workflow with its versions and limits; null is no limit. Lines
 * and rates that another transaction has locked are left out, and so are instances. Instances of other versions stay in line,
 * and the line is looked at again after `left_delay`, by a process that has them if there is one.
 *
 * Indexes: `line_due` finds the lines, `line_pkey` locks them and rates; `instance_slots` and `instance_starts` find the
 * instances of a line and count slots; `start_pkey` counts starts. The rows that were found are changed one by one, through
 * arrays of which PostgreSQL expects one row: it doesn't know the limits, and might otherwise read the whole table.
 */
export function admitFunction(schema: SchemaPrefix): string[] {
  return [
    `create function ${schema}admit(
  given_now bigint, namespaces text[], workflows text[], versions text[], slots integer[], starts integer[], periods bigint[],
  room integer, token text, lease_ms bigint,
  most_lines integer, most_depth integer, most_passes integer, left_delay bigint
) returns table (line_index integer, claimed ${schema}instance, due_at bigint, previously_started_at bigint, claimed_at bigint)
${LOCKING_FUNCTION} as $function$
#variable_conflict use_column
declare
  now_ms bigint := ${NOW_IN_FUNCTION};
  kinds smallint[];
  keys text[];
  line_namespaces text[];
  line_names text[];
  line_kind smallint;
  line_key text;
  line_versions integer[];
  line_slots integer;
  rate_limit integer;
  rate_period bigint;
  line_room integer;
  start_room integer;
  admitted integer := 0;
  held integer;
  gained integer;
  written integer;
  passes integer;
  refs text[];
  rates text[];
  rate_keys text[];
  locked_rates text[];
  starts_left integer[];
  chosen text[];
  used_up text[];
  newly_used text[];
  starts_at bigint;
  look_at bigint;
  is_full boolean;
  is_more boolean;
  next_look bigint;
begin
  select array_agg(locked.kind), array_agg(locked.key), array_agg(locked.namespace), array_agg(locked.name)
  into kinds, keys, line_namespaces, line_names
  from (
    select line.kind, line.key, line.namespace, line.name
    from (
      select due.kind, due.key
      from (
        select scope.namespace, array_agg(scope.name) as names
        from unnest(namespaces, workflows) as scope(namespace, name) group by scope.namespace
      ) as scope
      cross join lateral (
        select line.kind, line.key, line.available_at from ${schema}line as line
        where line.namespace = scope.namespace and line.available_at <= now_ms and line.name = any (scope.names)
        order by line.available_at, line.key
        limit most_lines
      ) as due
      order by due.available_at, due.key
      limit most_lines
    ) as due
    cross join lateral (
      select * from ${schema}line as line
      where line.kind = any (array[due.kind]) and line.key = any (array[due.key]) and line.available_at <= now_ms
      for update skip locked
    ) as line
  ) as locked;
  if keys is null then return; end if;
  now_ms := ${NOW_IN_FUNCTION};

  for number in 1 .. cardinality(keys) loop
    line_room := least(greatest(room / cardinality(keys), 1), room - admitted);
    exit when line_room <= 0;
    line_kind := kinds[number];
    line_key := keys[number];
    select workflow.versions::integer[], workflow.slots, workflow.starts, workflow.period
    into line_versions, line_slots, rate_limit, rate_period
    from unnest(namespaces, workflows, versions, slots, starts, periods) as workflow(namespace, name, versions, slots, starts, period)
    where workflow.namespace = line_namespaces[number] and workflow.name = line_names[number];
    held := 0;
    gained := 0;
    starts_at := null;
    start_room := line_room;

    if line_kind = ${LineKind.slots} then
      select count(*) into held from ${schema}instance as work where work.slot_key = line_key and work.class = ${WorkClass.leased};
      start_room := case when line_slots is null then line_room else least(greatest(line_slots - held, 0), line_room) end;
      return query
      with continuing as materialized ${nextInLine(schema, WorkClass.lineContinuing, "start_room")},
      fresh as materialized ${nextInLine(schema, WorkClass.lineFresh, "case when rate_limit is null then start_room - (select count(*) from continuing) else 0 end")},
      found as materialized (select * from continuing union all select * from fresh),
      taken as materialized (
        select * from unnest(
          array(select found.ctid from found), array(select found.due_at from found), array(select found.previously_started_at from found)
        ) as taken(ctid, due_at, previously_started_at)
        limit (select null::bigint)
      )
      update ${schema}instance as instance set ${LEASED}
      from taken
      where instance.ctid = taken.ctid
      returning number, instance, taken.due_at, taken.previously_started_at, now_ms;
      get diagnostics gained = row_count;
      start_room := case when rate_limit is null then 0 else start_room - gained end;
    end if;

    passes := 0;
    used_up := '{}';
    while passes < most_passes and start_room > 0 loop
      passes := passes + 1;
      if line_kind = ${LineKind.slots} then
        ${findStarts(schema, "work.slot_key = line_key")}
      else
        ${findStarts(schema, "work.rate_key = line_key and work.slot_key is null")}
      end if;
      rate_keys := array(
        select distinct candidate.rate collate "C" from unnest(rates) as candidate(rate) where candidate.rate is not null order by 1
      );
      if rate_limit is null then
        chosen := refs;
      else
        locked_rates := rate_keys;
        if line_kind = ${LineKind.slots} and cardinality(rate_keys) > 0 then
          insert into ${schema}line (kind, key, namespace, name)
          select ${LineKind.starts}, rate.key, line_namespaces[number], line_names[number] from unnest(rate_keys) as rate(key)
          on conflict do nothing;
          locked_rates := array(
            select line.key from unnest(rate_keys) as rate(key)
            cross join lateral (
              select line.key from ${schema}line as line
              where line.kind = any (array[${LineKind.starts}::smallint]) and line.key = any (array[rate.key])
              for update skip locked
            ) as line
          );
        end if;
        ${forgetStarts(schema, "locked_rates")}
        starts_left := array(
          select rate_limit - (
            select count(*) from ${schema}start as start where start.key = rate.key and start.at > now_ms - rate_period
          )::integer
          from unnest(locked_rates) with ordinality as rate(key, position) order by rate.position
        );
        chosen := array(
          select candidate.ref
          from (
            select each.ref, each.rate, each.position, row_number() over (partition by each.rate order by each.position) as nth
            from unnest(refs, rates) with ordinality as each(ref, rate, position)
          ) as candidate
          left join unnest(locked_rates, starts_left) as rate(key, remaining) on rate.key = candidate.rate
          where candidate.rate is null or candidate.nth <= rate.remaining
          order by candidate.position
        );
      end if;

      if cardinality(chosen) > 0 then
        return query
        with taken as materialized (
          select work.*
          from (select * from unnest(chosen) as item(ref) limit (select null::bigint)) as item
          cross join lateral (
            select work.ctid, work.available_at as due_at, work.started_at as previously_started_at
            from ${schema}instance as work
            where work.ref = any (array[item.ref]) and work.class = ${WorkClass.lineFresh} and work.available_at is not null
            for update skip locked
          ) as work
        ),
        leased as (
          update ${schema}instance as instance set ${LEASED}
          from taken
          where instance.ctid = taken.ctid
          returning instance.ref, instance.run, instance.rate_key, instance as claimed, taken.due_at, taken.previously_started_at
        ),
        counted as (
          insert into ${schema}start (key, at, ref, run)
          select leased.rate_key, now_ms, leased.ref, leased.run from leased
          where leased.rate_key is not null and rate_period is not null
        ),
        remembered as (
          update ${schema}line as line set available_at = coalesce(line.available_at, now_ms + rate_period)
          from (select distinct ${LineKind.starts}::smallint as kind, leased.rate_key from leased limit (select null::bigint)) as leased
          where line.kind = any (array[leased.kind]) and line.key = any (array[leased.rate_key])
        )
        select number, leased.claimed, leased.due_at, leased.previously_started_at, now_ms from leased;
        get diagnostics written = row_count;
      else
        written := 0;
      end if;
      gained := gained + written;
      exit when cardinality(refs) < start_room and cardinality(chosen) = cardinality(refs); -- no rate holds anything up
      start_room := start_room - written;
      if rate_limit is null then continue; end if;
      newly_used := array(
        select rate.key
        from unnest(rate_keys) as rate(key)
        left join unnest(locked_rates, starts_left) as counted(key, remaining) on counted.key = rate.key
        where coalesce(counted.remaining, 0) - (
          select count(*) from unnest(refs, rates) as candidate(ref, rate)
          where candidate.rate = rate.key and candidate.ref = any (chosen)
        ) <= 0
      );
      used_up := used_up || newly_used;
      select least(starts_at, min(greatest(coalesce(start.at + rate_period, 0), now_ms))) into starts_at
      from unnest(newly_used) as rate(key)
      left join lateral (
        select start.at from ${schema}start as start where start.key = rate.key order by start.at desc offset rate_limit - 1 limit 1
      ) as start on true;
    end loop;

    is_full := line_kind = ${LineKind.slots} and line_slots is not null and greatest(line_slots - held, 0) <= gained;
    is_more := not is_full and gained = line_room;
    look_at := case when is_full then null when is_more then now_ms else starts_at end;
    if look_at is null and not is_full then
      if line_kind = ${LineKind.slots} then
        ${findLeft(schema, "work.slot_key = line_key")}
      else
        ${findLeft(schema, "work.rate_key = line_key and work.slot_key is null")}
      end if;
    end if;
    if line_kind = ${LineKind.starts} then
      rate_keys := array[line_key];
      rate_period := coalesce(rate_period, 0);
      ${forgetStarts(schema, "rate_keys")}
      if look_at is null then
        select start.at + rate_period into look_at
        from ${schema}start as start where start.key = line_key order by start.at desc limit 1;
      end if;
    end if;
    update ${schema}line as line set
      blocked = is_full or not is_more and line_kind = ${LineKind.starts} and starts_at is not null,
      available_at = least(look_at, (
        select greatest(sleeping.available_at, now_ms + left_delay) from (
          select work.available_at from ${schema}instance as work
          where work.slot_key = line_key and work.class = ${WorkClass.lineContinuing} and work.available_at is not null
          order by work.available_at, work.ref
          limit case when line_kind = ${LineKind.starts} or is_full or is_more then 0 else 1 end
        ) as sleeping
      ))
    where line.kind = line_kind and line.key = line_key
    returning line.available_at into next_look;
    if next_look is null and (line_kind = ${LineKind.starts} or held + gained = 0) then
      delete from ${schema}line as line
      where line.kind = line_kind and line.key = line_key
        and (select work.ref from ${schema}instance as work where line_kind = ${LineKind.slots} and work.slot_key = line_key and work.class >= ${WorkClass.leased}
          order by work.class, work.available_at, work.ref limit 1) is null;
    end if;
    admitted := admitted + gained;
  end loop;
end
$function$`,
  ];
}

const LEASED = `lock = token, class = ${WorkClass.leased}, available_at = now_ms + lease_ms, started_at = coalesce(instance.started_at, now_ms)`;

/** The due instances of a class in a line of slots. */
function nextInLine(schema: SchemaPrefix, workClass: WorkClass, limit: string): string {
  return `(
        select work.ctid, work.available_at as due_at, work.started_at as previously_started_at
        from ${schema}instance as work
        where work.slot_key = line_key and work.class = ${workClass} and work.available_at <= now_ms and work.version = any (line_versions)
        order by work.available_at, work.ref
        limit ${limit}
        for update skip locked
      )`;
}

/** The instances of a line that may start, in order, without those whose rates are used up. */
function findStarts(schema: SchemaPrefix, isInLine: string): string {
  return `select coalesce(array_agg(candidate.ref), '{}'), coalesce(array_agg(candidate.rate_key), '{}') into refs, rates
        from (
          select candidate.ref, candidate.rate_key
          from (
            select work.ref, work.rate_key, work.available_at from ${schema}instance as work
            where ${isInLine} and work.class = ${WorkClass.lineFresh} and work.available_at is not null
              and work.version = any (line_versions)
            order by work.available_at, work.ref
            limit most_depth
          ) as candidate
          where candidate.rate_key is null or candidate.rate_key <> all (used_up)
          order by candidate.available_at, candidate.ref
          limit start_room
        ) as candidate;`;
}

/** Looks again if an instance is left that no limit holds up. */
function findLeft(schema: SchemaPrefix, isInLine: string): string {
  return `select now_ms + left_delay into look_at from ${schema}instance as work
        where ${isInLine} and work.class = ${WorkClass.lineFresh} and work.available_at is not null
        order by work.available_at, work.ref limit 1;`;
}

/** Deletes starts that don't count any more. */
function forgetStarts(schema: SchemaPrefix, keys: string): string {
  return `delete from ${schema}start as start using (
          select * from unnest(array(
            select old.ctid from unnest(${keys}) as rate(key)
            cross join lateral (
              select start.ctid from ${schema}start as start
              where start.key = any (array[rate.key]) and start.at <= now_ms - rate_period
              order by start.at limit (select null::bigint)
            ) as old
          )) as found(ctid) limit (select null::bigint)
        ) as found
        where start.ctid = found.ctid;`;
}
