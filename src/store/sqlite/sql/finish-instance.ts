/** Index: the primary key. */
export const FINISH_INSTANCE = `
update perdure_instance set
  class = 0, available_at = null, recoveries = 0, outcome = ?, output = ?, error = ?, finished_at = ?
where ref = ?`;
