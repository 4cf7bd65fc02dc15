/** Tables of claimable rows. Each has an index of its name with `_due` behind it. */
export type QueueTable = "perdure_hook" | "perdure_instance";
