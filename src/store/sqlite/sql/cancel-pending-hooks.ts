export function cancelPendingHooks(target: string): string {
  return `delete from perdure_hook where ${target} and lock is null returning id`;
}
