import type { SchemaPrefix } from "../sql/statement.ts";
import { JOURNAL_STORAGE, reserveSpace } from "./storage.ts";

/** The labels of labelled instances. label_pkey serves lists by label; a row is deleted with its instance, by its whole key. */
export function label(schema: SchemaPrefix): string[] {
  const table = `${schema}label`;
  return [
    `create table ${table} (
  namespace text collate "C" not null,
  name text collate "C" not null,
  key text collate "C" not null,
  value text collate "C" not null,
  ref text collate "C" not null,
  constraint label_pkey primary key (namespace, name, key, value, ref)
) with (vacuum_truncate = false)`,
    ...reserveSpace(table, 4000, { namespace: "''", name: "''", key: "''", value: "''", ref: "number" }),
  ];
}

/**
 * The entries of runs. `began` is a step's start order, where the order of the steps' first entries doesn't tell it.
 * journal_pkey serves commits, which can't write a position twice, and everything that reads a run's entries in order.
 */
export function journal(schema: SchemaPrefix): string[] {
  const table = `${schema}journal`;
  return [
    `create table ${table} (
  at bigint not null,
  due_at bigint,
  run integer not null,
  position integer not null,
  count integer not null,
  attempt integer not null,
  event integer,
  began integer,
  parent text,
  ref text collate "C" not null,
  kind text collate "C" not null,
  type text collate "C" not null,
  name text collate "C" not null,
  value json,
  constraint journal_pkey primary key (ref, run, position)
) ${JOURNAL_STORAGE}`,
    ...reserveSpace(table, 4000, {
      at: "0",
      run: "0",
      position: "0",
      count: "0",
      attempt: "0",
      ref: "number",
      kind: "''",
      type: "''",
      name: "''",
    }),
  ];
}

/** Events that were sent to runs. event_pkey makes an event's id unique in its run, and serves loading them. */
export function event(schema: SchemaPrefix): string[] {
  const table = `${schema}event`;
  return [
    `create table ${table} (
  at bigint not null,
  run integer not null,
  sequence integer not null,
  ref text collate "C" not null,
  id text collate "C" not null,
  type text collate "C" not null,
  payload json not null,
  constraint event_pkey primary key (ref, run, id)
) ${JOURNAL_STORAGE}`,
    ...reserveSpace(table, 4000, {
      at: "0",
      run: "0",
      sequence: "0",
      ref: "number",
      id: "''",
      type: "''",
      payload: "'null'",
    }),
  ];
}

/** How the earlier runs of restarted instances ended. past_run_pkey serves reading them, run by run. */
export function pastRun(schema: SchemaPrefix): string[] {
  return [
    `create table ${schema}past_run (
  started_at bigint,
  finished_at bigint,
  run integer not null,
  version integer not null default 0,
  ref text collate "C" not null,
  status text collate "C" not null,
  output json,
  error json,
  rollback json,
  constraint past_run_pkey primary key (ref, run)
)`,
  ];
}

/**
 * The output of streaming steps. stream_chunk_pkey serves writing and reading chunks, and deleting streams whose names begin
 * alike. Chunks aren't compressed: trying to would cost more than it saves.
 */
export function streamChunk(schema: SchemaPrefix): string[] {
  return [
    `create table ${schema}stream_chunk (
  number integer not null,
  run integer not null,
  ref text collate "C" not null,
  stream text collate "C" not null,
  data bytea not null,
  constraint stream_chunk_pkey primary key (ref, stream, number)
)`,
    `alter table ${schema}stream_chunk alter column data set storage external`,
  ];
}

/** Deleted instances whose dependents are still to be deleted. deleted_instance_pkey serves forgetting them. */
export function deletedInstance(schema: SchemaPrefix): string[] {
  const table = `${schema}deleted_instance`;
  return [
    `create table ${table} (
  due_at bigint not null,
  final boolean not null,
  ref text collate "C" not null,
  constraint deleted_instance_pkey primary key (ref)
) with (vacuum_truncate = false)`,
    ...reserveSpace(table, 4000, { due_at: "0", final: "true", ref: "number" }),
    // The next deleted instances to clean up after.
    `create index deleted_instance_due on ${table} (due_at)`,
  ];
}
