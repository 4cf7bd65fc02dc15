/** Few rows, read whole. Nobody owns one: whoever moves it on from the time at which it was due has fired it. */
export const SCHEDULES = `create table perdure_schedule (
  namespace text not null,
  workflow text not null,
  name text not null,
  cron text not null,
  timezone text not null,
  due_at integer,
  last_at integer,
  paused integer not null default 0,
  confirmed_at integer not null,
  primary key (namespace, workflow, name, cron, timezone)
) strict, without rowid;
`;
