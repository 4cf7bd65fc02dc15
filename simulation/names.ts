export const NAMESPACE = "simulation";
export const HOOK_NAMES = ["work", "other"] as const;
export type HookName = (typeof HOOK_NAMES)[number];
