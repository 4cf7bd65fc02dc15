import { MOST_FORGOTTEN } from "../../request-statements.ts";

/** A request that hasn't expired. Index: the primary key. */
export const FIND_REQUEST = `
select fingerprint, target, answer from perdure_request where namespace = ?1 and key = ?2 and expires_at > ?3`;

/** Remembers a request, in place of an expired one with its key. Index: the primary key. */
export const BEGIN_REQUEST = `
insert or replace into perdure_request (namespace, key, fingerprint, target, answer, expires_at) values (?1, ?2, ?3, ?4, null, ?5)`;

/** Stores the answer. Index: the primary key. */
export const FINISH_REQUEST = `
update perdure_request set answer = ?3 where namespace = ?1 and key = ?2`;

/** Deletes a limited number of expired requests. Indexes: perdure_request_expiry, then the primary key. */
export const FORGET_EXPIRED_REQUESTS = `
delete from perdure_request where (namespace, key) in (
  select namespace, key from perdure_request where expires_at <= ?1 order by expires_at limit ${MOST_FORGOTTEN}
)`;

/** Deletes a request that was refused. Index: the primary key. */
export const FORGET_REQUEST = `
delete from perdure_request where namespace = ?1 and key = ?2 and answer is null`;
