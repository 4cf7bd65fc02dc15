/** Extends a lease for its owner only. Index: the primary key. */
export const RENEW_HOOK = `update perdure_hook set available_at = ? where namespace = ? and id = ? and lock = ?`;
