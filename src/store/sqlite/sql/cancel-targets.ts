/** Indexes: the primary key or perdure_hook_key. */
export const CANCEL_TARGETS = {
  id: "namespace = ?1 and id = ?2 and available_at is not null",
  key: "namespace = ?1 and key = ?2 and name = ?3 and key is not null and available_at is not null",
} as const;
