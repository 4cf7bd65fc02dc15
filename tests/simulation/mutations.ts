import { HOOK_MUTATIONS } from "./hook-mutations.ts";
import type { Mutation } from "./rewriting.ts";
import { WORKFLOW_MUTATIONS } from "./workflow-mutations.ts";

export const MUTATIONS: readonly Mutation[] = [...HOOK_MUTATIONS, ...WORKFLOW_MUTATIONS];
