import { MOST_FORGOTTEN } from "../../request-statements.ts";
import { batch, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

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
with forgotten as (${deleteExpired(schema)})
update ${schema}request as request set answer = $4 where request.namespace = $2 and request.key = $3 and request.expires_at > ${NOW}`,
  };
}

/** Deletes some expired requests. Index: request_expiry. */
export function sweepRequests(schema: SchemaPrefix): Statement {
  return { name: "sweep_requests", text: deleteExpired(schema) };
}

function deleteExpired(schema: SchemaPrefix): string {
  return `
  delete from ${schema}request as request
  where request.ctid = any (array(
    select expired.ctid from ${schema}request as expired
    where expired.expires_at <= ${NOW} order by expired.expires_at limit ${MOST_FORGOTTEN} for update skip locked
  ))
`;
}

/** Deletes a request that has no answer. Index: request_pkey. */
export function forgetRequest(schema: SchemaPrefix): Statement {
  return {
    name: "forget_request",
    text: `
delete from ${schema}request as request where request.namespace = $1 and request.key = $2 and request.answer is null`,
  };
}

/**
 * Writes receipts, in the order of keys, as every transaction does. Returns the keys of the new ones: an expired receipt is
 * replaced, and any other stays. Index: request_pkey.
 */
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

/** Deletes the receipts of operations that were refused, in the transaction that wrote them. Index: request_pkey. */
export function withdrawReceipts(schema: SchemaPrefix): Statement {
  return {
    name: "withdraw_receipts",
    text: `
delete from ${schema}request as request using ${batch(1, { namespace: "text", key: "text" })} as item
where request.namespace = any (array[item.namespace]) and request.key = any (array[item.key])`,
  };
}
