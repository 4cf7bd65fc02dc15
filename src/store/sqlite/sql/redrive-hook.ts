import { STATUS_CONDITIONS } from "./hook-record.ts";

/** A dead letter whose key is free becomes due, with fresh attempts. Indexes: the primary key, perdure_hook_key. */
export const REDRIVE_HOOK = `
update perdure_hook as hook set available_at = ?, class = 0, attempts = 0, recoveries = 0, finished_at = null, latest_at = null
where namespace = ? and id = ? and ${STATUS_CONDITIONS.failed}
  and not exists (
    select 1 from perdure_hook as holder
    where holder.namespace = hook.namespace and holder.name = hook.name and holder.key = hook.key
      and holder.key is not null and holder.available_at is not null
  )`;
