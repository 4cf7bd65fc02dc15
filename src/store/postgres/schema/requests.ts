import type { SchemaPrefix } from "../sql/statement.ts";

/** Requests that may be sent again: see `RequestStatements`. */
export function requests(schema: SchemaPrefix): string {
  return `create table ${schema}request (
  expires_at bigint not null,
  namespace text collate "C" not null,
  key text collate "C" not null,
  fingerprint text collate "C" not null,
  target text not null,
  answer text,
  constraint request_pkey primary key (namespace, key)
);
create index request_expiry on ${schema}request (expires_at);
`;
}
