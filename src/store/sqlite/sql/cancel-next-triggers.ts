/** Running hooks lose the trigger that waits beside them. */
export function cancelNextTriggers(target: string): string {
  return `
update perdure_hook set next_at = null, next_payload = null, next_retries = null, next_trace = null, next_triggers = 0,
  latest_at = null
where ${target} and lock is not null
returning id`;
}
