import { MOST_FORGOTTEN } from "../../request-statements.ts";

/** Index: the primary key. */
export const FIND_REQUEST = `
select fingerprint, target, answer from perdure_request where namespace = ?1 and key = ?2 and expires_at > ?3`;

/** One that expired gives way to a new one. Index: the primary key. */
export const BEGIN_REQUEST = `
insert or replace into perdure_request (namespace, key, fingerprint, target, answer, expires_at) values (?1, ?2, ?3, ?4, null, ?5)`;

/** Index: the primary key. */
export const FINISH_REQUEST = `
update perdure_request set answer = ?3 where namespace = ?1 and key = ?2`;

/** Indexes: perdure_request_expiry, then the primary key. */
export const FORGET_EXPIRED_REQUESTS = `
delete from perdure_request where (namespace, key) in (
  select namespace, key from perdure_request where expires_at <= ?1 order by expires_at limit ${MOST_FORGOTTEN}
)`;

/** Index: the primary key. */
export const FORGET_REQUEST = `
delete from perdure_request where namespace = ?1 and key = ?2 and answer is null`;
