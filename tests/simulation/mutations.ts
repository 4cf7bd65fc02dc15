import type { Profile } from "../../simulation/profile.ts";
import { HOOK_MUTATIONS } from "./hook-mutations.ts";
import type { Mutation } from "./rewriting.ts";
import { WORKFLOW_MUTATIONS } from "./workflow-mutations.ts";

/** Each in worlds of what it protects. */
export const MUTATIONS: readonly Mutation[] = [
  ...among("hooks", HOOK_MUTATIONS),
  ...among("workflows", WORKFLOW_MUTATIONS),
];

function among(subject: Profile["subject"], mutations: readonly Mutation[]): Mutation[] {
  return mutations.map((mutation) => ({ ...mutation, options: { ...mutation.options, profile: { subject } } }));
}
