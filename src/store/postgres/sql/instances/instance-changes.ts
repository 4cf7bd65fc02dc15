import { WorkClass } from "../../../queue/work-class.ts";
import { isInstanceOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";
import { andNoteLines, freeSlots, joinLines, type Telling, whenTold } from "../tell-lines.ts";
import { triggerHooks } from "./commit-instances.ts";
import { freshClass, freshTime, lineTime } from "./instance-inserts.ts";
import { INSTANCE_RECORD } from "./instance-views.ts";

export type InstanceChangeKind = "pause" | "resume" | "terminate" | "rollBack" | "timeOut" | "restart";

const IS_HELD = `instance.class = ${WorkClass.leased} and instance.lock is not null`;

/** Classes that a resumed instance keeps. */
const STAYS = [WorkClass.leased, WorkClass.lineContinuing, WorkClass.lineFresh].join(", ");

/** The run has never begun, and has no entries that were kept from an earlier one. */
const UNTOUCHED = "(select touched.never from touched)";

/** Makes an instance due, to be rolled back and then to end like this. One that has never begun ends at once. */
function rollBackAs(outcome: "terminated" | "errored", more: string): string {
  return `rolling_back = case when not ${UNTOUCHED} then '${outcome}' end,
    outcome = case when ${UNTOUCHED} then '${outcome}' end,
    finished_at = case when ${UNTOUCHED} then clock.now end,
    purge_at = case when ${UNTOUCHED} then clock.now + instance.error_retention end,
    available_at = case when not ${UNTOUCHED} then clock.now end,
    class = case when ${UNTOUCHED} or instance.slot_key is null then ${WorkClass.continuing} else ${WorkClass.lineContinuing} end,
    lock = null, recoveries = 0, paused = false, wakes = instance.wakes + 1, ${more}`;
}

/** The states that allow a change, and what the change writes. */
const CHANGES: Record<InstanceChangeKind, { allowed: string; set: string }> = {
  pause: {
    allowed: "target.outcome is null",
    set: `paused = true, paused_by = case when instance.paused then instance.paused_by else $7::text end,
    available_at = case when ${IS_HELD} then instance.available_at end`,
  },
  resume: {
    allowed: "(target.paused or target.status = 'diverged') and target.outcome is null",
    set: `paused = false, wakes = instance.wakes + 1,
    class = case when instance.class in (${STAYS}) then instance.class else ${WorkClass.continuing} end,
    available_at = case when ${IS_HELD} then instance.available_at when instance.class = ${WorkClass.lineFresh} then ${lineTime("instance")} else clock.now end`,
  },
  terminate: {
    allowed: "target.outcome is null and target.waiters is null",
    set: `outcome = 'terminated', rollback = case when instance.rolling_back is not null then '{"outcome":"failed"}'::json end,
    rolling_back = null, lock = null, class = ${WorkClass.continuing}, available_at = null, finished_at = clock.now, paused = false,
    purge_at = clock.now + instance.error_retention,
    wakes = instance.wakes + 1`,
  },
  rollBack: {
    allowed: "target.outcome is null and target.rolling_back is null and target.waiters is null",
    set: rollBackAs("terminated", "error = null"),
  },
  timeOut: {
    allowed:
      "target.outcome is null and target.rolling_back is null and target.waiters is null and target.deadline <= clock.now",
    set: rollBackAs("errored", "error = ($12::text)::json"),
  },
  restart: {
    allowed: "($5::text[] is null or target.status = any ($5::text[]))",
    set: `run = instance.run + 1, outcome = null, output = null, error = null, rolling_back = null, rollback = null,
    started_at = null, finished_at = null, purge_at = null, deadline = clock.now + instance.timeout, paused = false, recoveries = 0, recovered_position = 0, lock = null,
    slot_key = trait.slot_key, rate_key = trait.rate_key,
    class = ${freshClass("trait")}, available_at = ${freshTime("trait")}, wakes = instance.wakes + 1,
    params = coalesce(($6::text)::json, instance.params), version = coalesce(trait.version, instance.version)`,
  },
};

/**
 * An operator's change of one instance, if its state allows it. An instance that others wait for isn't ended, see
 * `PostgresAwaitedEnds`. The row is locked first, so that this is its present state.
 * Returns the instance, and whether it was changed. A resumed instance stays in its lane if it is leased or in a line, and goes
 * to the end of its line if it has never run. A pause keeps who asked for it first ($7). A restart may require a status ($5),
 * and may bring new params ($6) with new keys ($7 to $9) and a new version ($12). With a hook ($7 to $11), an instance that has
 * ended triggers it. A timeout brings the error ($12). Indexes: instance_id, then instance_pkey; line_pkey; journal_pkey for a
 * rollback; hook_pkey for a hook.
 */
export function changeInstance(
  schema: SchemaPrefix,
  kind: InstanceChangeKind,
  { hook = false, later = false }: Telling & { readonly hook?: boolean } = {},
): Statement {
  const { allowed, set } = CHANGES[kind];
  const telling = { later: later && kind !== "pause" };
  return {
    name: `${kind}_instance${hook ? "_hook" : ""}${whenTold(telling)}`,
    ...(telling.later && { tellsLater: true }),
    text: `
with clock as materialized (select ${NOW} as now),
target as materialized (
  select * from ${schema}instance as instance where instance.namespace = $2 and instance.name = $3 and instance.id = $4
    and ${isWantedRun(kind === "restart" ? 10 : 5)}
  for update
),
${kind === "restart" ? keepPastRun(schema, allowed) : kind === "rollBack" || kind === "timeOut" ? lookForTraces(schema) : ""}changed as (
  update ${schema}instance as instance set
    ${set}
  from target cross join clock${kind === "restart" ? newKeys() : ""}
  where ${isInstanceOf("instance", "target")} and ${allowed}
  returning instance.*
)${kind === "pause" ? "" : tellLines(schema, telling)}${hook ? triggerHooks(schema, 7, ENDED) : ""}
${tellChange(telling)}`,
  };
}

const ENDED = "(select changed.ref from changed where changed.outcome is not null)";

/** Whether the instance is in the run that the change is for. Without a ref, every run is. */
function isWantedRun(firstParameter: number): string {
  const [ref, run] = [`$${firstParameter}::text`, `$${firstParameter + 1}::int`];
  return `(${ref} is null or (instance.ref = ${ref} and instance.run = ${run}))`;
}

/** The instance after the change, or as it is if it wasn't changed. */
function tellChange(telling: Telling, target = "target"): string {
  return `select ${INSTANCE_RECORD}, true as changed${andNoteLines(telling, "freed", "joined")} from changed as instance
union all
select ${INSTANCE_RECORD}, false${telling.later ? ", null" : ""} from ${target} as instance where not exists (select from changed)`;
}

/** `trait` has the instance's priority, the keys of the next run, and its version if that is another. */
const WRITE_RESTART = CHANGES.restart.set;

function newKeys(): string {
  return ` cross join lateral (
    select target.priority,
      case when $7::boolean then $8::text else target.slot_key end as slot_key,
      case when $7::boolean then $9::text else target.rate_key end as rate_key,
      $12::int as version
  ) as trait`;
}

/** If the instance gave up its slot, that line is due at once. It may also have joined a line, which can be another one. */
function tellLines(schema: SchemaPrefix, telling: Telling): string {
  const freed = `select target.slot_key, target.namespace, target.name from target cross join changed
    where target.slot_key is not null and target.class = ${WorkClass.leased} and changed.class <> ${WorkClass.leased}`;
  return `,
freed as (
  ${freeSlots(schema, freed, telling)}
),
joined as (
  ${joinLines(schema, `(select * from changed where not exists (${freed} and target.slot_key is not distinct from changed.slot_key))`, telling)}
)`;
}

/** Keeps how the run ended, or the status that it had. */
function keepPastRun(schema: SchemaPrefix, allowed: string): string {
  return `past as (
  insert into ${schema}past_run (ref, run, version, status, output, error, rollback, started_at, finished_at)
  select target.ref, target.run, target.version, target.status, target.output, target.error, target.rollback, target.started_at, target.finished_at
  from target where ${allowed}
),
`;
}

function lookForTraces(schema: SchemaPrefix): string {
  return `touched as materialized (
  select target.started_at is null and not exists (
    select from ${schema}journal as journal where ${isInstanceOf("journal", "target")} and journal.run = target.run
  ) as never
  from target
),
`;
}

const ENTRY_COLUMNS = ["kind", "type", "name", "count", "attempt", "value", "due_at", "event", "parent", "at"];

/**
 * A restart whose run begins with copies of some entries of the present run ($5), at its first positions and with the places of
 * their steps in start order ($11; 0 is none, because PostgreSQL finds elements faster where none is null), and with the events
 * that they received, or, with $8, with all events that callers sent: the end of another instance is told to no step of another
 * run. Changes nothing unless $7 is the present run. A new version is $12. The limits, which are none, keep PostgreSQL from
 * reading all entries first if it believes that there are none. Indexes: instance_id, then instance_pkey; line_pkey;
 * journal_pkey, event_pkey.
 */
export function restartInstanceWith(schema: SchemaPrefix, telling: Telling = {}): Statement {
  const entry = ENTRY_COLUMNS.map((column) => `kept.${column}`).join(", ");
  return {
    name: `restart_instance_with${whenTold(telling)}`,
    ...(telling.later && { tellsLater: true }),
    text: `
with clock as materialized (select ${NOW} as now),
found as materialized (
  select * from ${schema}instance as instance where instance.namespace = $2 and instance.name = $3 and instance.id = $4
    and ${isWantedRun(9)}
  for update
),
target as materialized (select * from found where found.run = $7),
${keepPastRun(schema, "true")}kept as materialized (
  select journal.* from target cross join lateral (
    select * from ${schema}journal as journal
    where ${isInstanceOf("journal", "target")} and journal.run = target.run and journal.position = any ($5::int[])
    limit (select null::bigint)
  ) as journal
),
entries as (
  insert into ${schema}journal (ref, run, position, ${ENTRY_COLUMNS.join(", ")}, began)
  select kept.ref, kept.run + 1, row_number() over (order by kept.position), ${entry},
    nullif(($11::int[])[row_number() over (order by kept.position)], 0)
  from kept
),
events as (
  insert into ${schema}event (ref, run, id, sequence, type, payload, at)
  select event.ref, event.run + 1, event.id, event.sequence, event.type, event.payload, event.at
  from target cross join lateral (
    select * from ${schema}event as event where ${isInstanceOf("event", "target")} and event.run = target.run
    limit (select null::bigint)
  ) as event
  where $8::boolean and event.type not like '$%' or event.sequence in (select kept.event from kept where kept.event is not null)
),
changed as (
  update ${schema}instance as instance set
    ${WRITE_RESTART}
  from target cross join clock cross join lateral (
    select target.priority, target.slot_key, target.rate_key, $12::int as version
  ) as trait
  where ${isInstanceOf("instance", "target")}
  returning instance.*
)${tellLines(schema, telling)}
${tellChange(telling, "found")}`,
  };
}
