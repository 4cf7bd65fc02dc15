/** Requests that may be sent again: see `RequestStatements`. */
export const REQUESTS = `create table perdure_request (
  namespace text not null,
  key text not null,
  fingerprint text not null,
  target text not null,
  answer text,
  expires_at integer not null,
  primary key (namespace, key)
) strict, without rowid;
create index perdure_request_expiry on perdure_request (expires_at);
`;
