/** SQL that prepares a database for the first migration. */
export const MIGRATIONS_TABLE = `create table if not exists perdure_migration (
  owner text not null,
  number integer not null,
  name text not null,
  breaking integer not null,
  applied_at integer not null,
  primary key (owner, number)
) strict, without rowid;
`;
