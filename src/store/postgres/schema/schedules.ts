import type { SchemaPrefix } from "../sql/statement.ts";

/** Few rows, read whole. Nobody owns one: whoever moves it on from the time at which it was due has fired it. */
export function schedules(schema: SchemaPrefix): string {
  return `create table ${schema}schedule (
  due_at bigint,
  last_at bigint,
  confirmed_at bigint not null,
  paused boolean not null default false,
  namespace text collate "C" not null,
  workflow text collate "C" not null,
  name text collate "C" not null,
  cron text collate "C" not null,
  timezone text collate "C" not null,
  constraint schedule_pkey primary key (namespace, workflow, name, cron, timezone)
);
`;
}
