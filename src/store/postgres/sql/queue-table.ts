/** Tables of claimable rows. Each has an index of its name with `_due` behind it, which ends with the key. */
export type QueueTable = "hook" | "instance";

/** What decides between rows that are due at the same time: ids, which rise with time. */
export const QUEUE_KEY = { hook: "id", instance: "ref" } as const;
