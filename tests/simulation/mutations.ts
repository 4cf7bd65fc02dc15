import type { Profile } from "../../simulation/profile.ts";
import { ENDING_MUTATIONS } from "./ending-mutations.ts";
import { HOOK_MUTATIONS, UNREADABLE_HOOK_MUTATIONS } from "./hook-mutations.ts";
import { HOOK_TRANSACTION_MUTATIONS } from "./hook-transaction-mutations.ts";
import { OPPOSED_MUTATIONS } from "./opposed-mutations.ts";
import { RETENTION_MUTATIONS } from "./retention-mutations.ts";
import type { Mutation } from "./rewriting.ts";
import { ROLLBACK_MUTATIONS } from "./rollback-mutations.ts";
import { SCHEDULE_MUTATIONS } from "./schedule-mutations.ts";
import { TELLING_MUTATIONS } from "./telling-mutations.ts";
import { TRANSACTION_MUTATIONS } from "./transaction-mutations.ts";
import { VERSION_MUTATIONS } from "./version-mutations.ts";
import { WAIT_MUTATIONS } from "./wait-mutations.ts";
import { WORKFLOW_MUTATIONS } from "./workflow-mutations.ts";

/** Each in worlds of what it protects. */
export const MUTATIONS: readonly Mutation[] = [
  ...among("hooks", HOOK_MUTATIONS),
  ...among("hooks", HOOK_TRANSACTION_MUTATIONS, { transacting: true }),
  ...among("workflows", WORKFLOW_MUTATIONS),
  ...among("workflows", SCHEDULE_MUTATIONS, { scheduled: true }),
  ...among("workflows", ENDING_MUTATIONS, { told: true }),
  ...among("workflows", TELLING_MUTATIONS, { programs: ["telling", "streaming"] }),
  ...among("workflows", RETENTION_MUTATIONS, { retentionMs: 0 }),
  ...among("workflows", TRANSACTION_MUTATIONS, { programs: ["transacting"] }),
  ...among("workflows", ROLLBACK_MUTATIONS),
  ...among("workflows", WAIT_MUTATIONS, { programs: ["sleeping", "listening", "child"] }),
  ...among("workflows", OPPOSED_MUTATIONS, { opposed: true }),
  ...among("workflows", VERSION_MUTATIONS, { mixed: true }),
  ...among("hooks", UNREADABLE_HOOK_MUTATIONS, { mixed: true, faultRate: 0 }),
];

function among(
  subject: Profile["subject"],
  mutations: readonly Mutation[],
  profile: Partial<Profile> = {},
): Mutation[] {
  return mutations.map(({ options, ...mutation }) => ({
    ...mutation,
    options: { ...options, profile: { subject, ...profile, ...options.profile } },
  }));
}
