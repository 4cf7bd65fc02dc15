/** A table as it is from now on. `columns` are those that are copied, without keys and computed ones. */
interface RebuiltTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Keys and computed columns. */
  readonly rest: string;
  readonly indexes: string;
}

const HOOK: RebuiltTable = {
  name: "perdure_hook",
  columns: {
    namespace: "text not null",
    id: "text not null",
    name: "text not null",
    key: "text",
    class: "integer not null",
    available_at: "integer",
    lock: "text",
    attempts: "integer not null",
    recoveries: "integer not null default 0",
    confirmed: "integer not null default 0",
    own_id: "integer not null default 0",
    triggers: "integer not null default 1",
    created_at: "integer not null",
    triggered_at: "integer not null",
    last_trigger: "text",
    last_attempt_at: "integer",
    finished_at: "integer",
    purge_at: "integer",
    latest_at: "integer",
    next_at: "integer",
    next_triggers: "integer not null default 0",
    retries: "text",
    trace: "text",
    next_retries: "text",
    next_trace: "text",
    error: "text",
    payload: "text not null check (json_valid(payload))",
    next_payload: "text",
  },
  rest: "primary key (namespace, id)",
  indexes: `create index perdure_hook_due on perdure_hook (namespace, class, available_at, id) where available_at is not null;
create unique index perdure_hook_key on perdure_hook (namespace, name, key) where key is not null and available_at is not null;
create index perdure_hook_failed on perdure_hook (namespace, id) where available_at is null and error is not null;
create index perdure_hook_completed on perdure_hook (namespace, purge_at, id) where available_at is null and error is null;
`,
};

const INSTANCE: RebuiltTable = {
  name: "perdure_instance",
  columns: {
    ref: "text not null primary key",
    namespace: "text not null",
    name: "text not null",
    id: "text not null",
    run: "integer not null default 1",
    class: "integer not null",
    available_at: "integer",
    lock: "text",
    recoveries: "integer not null default 0",
    confirmed: "integer not null default 0",
    recovered_position: "integer not null default 0",
    wakes: "integer not null default 0",
    paused: "integer not null default 0",
    outcome: "text",
    parent: "text",
    created_at: "integer not null",
    started_at: "integer",
    finished_at: "integer",
    purge_at: "integer",
    success_retention: "integer",
    error_retention: "integer",
    priority: "integer not null default 0",
    slot_key: "text",
    rate_key: "text",
    rolling_back: "text",
    schedule: "text",
    labels: "text",
    rollback: "text",
    error: "text check (error is null or json_valid(error))",
    params: "text not null check (json_valid(params))",
    output: "text check (output is null or json_valid(output))",
  },
  rest: `status text generated always as (
    case when outcome is not null then outcome
      when paused and class = 2 and lock is not null then 'waitingForPause'
      when paused then 'paused'
      when rolling_back is not null then 'rollingBack'
      when class = 2 and lock is not null then 'running'
      when started_at is null then 'queued'
      else 'waiting' end
  ) virtual`,
  indexes: `create unique index perdure_instance_id on perdure_instance (namespace, name, id);
create index perdure_instance_due on perdure_instance (namespace, class, available_at, ref) where available_at is not null;
create index perdure_instance_outcome on perdure_instance (namespace, name, outcome, ref, created_at, finished_at);
create index perdure_instance_purge on perdure_instance (namespace, purge_at, ref) where purge_at is not null;
create index perdure_instance_slots on perdure_instance (slot_key, class, available_at, ref) where slot_key is not null and class >= 2;
create index perdure_instance_starts on perdure_instance (rate_key, class, available_at, ref)
where rate_key is not null and slot_key is null and class >= 5;
`,
};

const JOURNAL: RebuiltTable = {
  name: "perdure_journal",
  columns: {
    ref: "text not null",
    run: "integer not null",
    position: "integer not null",
    kind: "text not null",
    type: "text not null",
    name: "text not null",
    count: "integer not null",
    attempt: "integer not null",
    due_at: "integer",
    event: "integer",
    parent: "text",
    at: "integer not null",
    began: "integer",
    value: "text check (value is null or json_valid(value))",
  },
  rest: "primary key (ref, run, position)",
  indexes: "",
};

const EVENT: RebuiltTable = {
  name: "perdure_event",
  columns: {
    ref: "text not null",
    run: "integer not null",
    id: "text not null",
    sequence: "integer not null",
    type: "text not null",
    at: "integer not null",
    payload: "text not null check (json_valid(payload))",
  },
  rest: "primary key (ref, run, id)",
  indexes: "",
};

const PAST_RUN: RebuiltTable = {
  name: "perdure_past_run",
  columns: {
    ref: "text not null",
    run: "integer not null",
    status: "text not null",
    started_at: "integer",
    finished_at: "integer",
    rollback: "text",
    error: "text",
    output: "text",
  },
  rest: "primary key (ref, run)",
  indexes: "",
};

const SUBJECT: RebuiltTable = {
  name: "perdure_subject",
  columns: {
    profile: "text not null",
    dispatcher_id: "text not null",
    subject_key: "text not null",
    group_key: "text",
    status: "text not null default 'idle'",
    revision: "integer not null default 1",
    available_at: "integer",
    due_at: "integer",
    lease_owner: "text",
    attempts: "integer not null default 0",
    failures: "integer not null default 0",
    timeouts: "integer not null default 0",
    last_started_at: "integer",
    last_success_at: "integer",
    last_failure_at: "integer",
    created_at: "integer not null",
    updated_at: "integer not null",
    last_change: "text",
    error: "text check (error is null or json_valid(error))",
    cursor: "text not null check (json_valid(cursor))",
    meta: "text not null check (json_valid(meta))",
  },
  rest: "primary key (profile, dispatcher_id, subject_key)",
  indexes: `create index perdure_subject_due on perdure_subject (profile, dispatcher_id, available_at, subject_key) where available_at is not null;
create index perdure_subject_group_due on perdure_subject (profile, dispatcher_id, group_key, available_at, subject_key)
where available_at is not null and group_key is not null;
`,
};

/**
 * Tables with large values have row numbers. A table without them is one b-tree in the order of its primary key, and SQLite reads a
 * row whole, with all of its overflow pages, to compare its key with another: a lookup beside values of a megabyte each cost as
 * much as reading some of them. With row numbers, keys are compared in indexes that have nothing else. Large columns are the last,
 * because SQLite reads a row from its beginning. Indexes end with the key, as they did by themselves.
 */
export const ROW_NUMBERS = [HOOK, INSTANCE, JOURNAL, EVENT, PAST_RUN, SUBJECT].map(rebuild).join("");

function rebuild({ name, columns, rest, indexes }: RebuiltTable): string {
  const names = Object.keys(columns).join(", ");
  const definitions = Object.entries(columns).map(([column, type]) => `  ${column} ${type},\n`);
  return `create table ${name}_rebuilt (\n${definitions.join("")}  ${rest}\n) strict;
insert into ${name}_rebuilt (${names}) select ${names} from ${name};
drop table ${name};
alter table ${name}_rebuilt rename to ${name};
${indexes}`;
}
