import { MOST_FORGOTTEN } from "../../request-statements.ts";
import { NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/** Stores a request. An expired one is replaced. Returns no row if an unexpired one has the key. Index: request_pkey. */
export function beginRequest(schema: SchemaPrefix): Statement {
  return {
    name: "begin_request",
    text: `
insert into ${schema}request as request (namespace, key, fingerprint, target, answer, expires_at)
select $2, $3, $4, $5, null, ${NOW} + $6::bigint
on conflict (namespace, key) do update
set fingerprint = excluded.fingerprint, target = excluded.target, answer = null, expires_at = excluded.expires_at
where request.expires_at <= ${NOW}
returning request.fingerprint, request.target, request.answer`,
  };
}

/** An unexpired request. Index: request_pkey. */
export function findRequest(schema: SchemaPrefix): Statement {
  return {
    name: "find_request",
    text: `
select request.fingerprint, request.target, request.answer from ${schema}request as request
where request.namespace = $2 and request.key = $3 and request.expires_at > ${NOW}`,
  };
}

/** Stores the answer, and deletes some expired requests. Indexes: request_pkey, request_expiry. */
export function finishRequest(schema: SchemaPrefix): Statement {
  return {
    name: "finish_request",
    text: `
with expired as materialized (
  select request.namespace, request.key from ${schema}request as request
  where request.expires_at <= ${NOW} order by request.expires_at limit ${MOST_FORGOTTEN} for update skip locked
),
forgotten as (
  delete from ${schema}request as request using expired where request.namespace = expired.namespace and request.key = expired.key
)
update ${schema}request as request set answer = $4 where request.namespace = $2 and request.key = $3 and request.expires_at > ${NOW}`,
  };
}

/** Deletes a request that has no answer. Index: request_pkey. */
export function forgetRequest(schema: SchemaPrefix): Statement {
  return {
    name: "forget_request",
    text: `
delete from ${schema}request as request where request.namespace = $1 and request.key = $2 and request.answer is null`,
  };
}

/** Gives the keys of those that weren't there. One that expired gives way. In the order of keys, as every transaction writes them. Index: request_pkey. */
export function writeReceipts(schema: SchemaPrefix): Statement {
  return {
    name: "write_receipts",
    text: `
insert into ${schema}request as request (namespace, key, fingerprint, target, answer, expires_at)
select item.namespace, item.key, '', item.note, null, ${NOW} + item.keep_ms
from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as item (namespace, key, note, keep_ms)
order by item.namespace collate "C", item.key collate "C"
on conflict (namespace, key) do update set target = excluded.target, expires_at = excluded.expires_at
where request.expires_at <= ${NOW}
returning request.namespace, request.key`,
  };
}

/** Of what was not done after all, in the transaction that wrote them. Index: request_pkey. */
export function withdrawReceipts(schema: SchemaPrefix): Statement {
  return {
    name: "withdraw_receipts",
    text: `
delete from ${schema}request as request using unnest($1::text[], $2::text[]) as item (namespace, key)
where request.namespace = item.namespace and request.key = item.key`,
  };
}
