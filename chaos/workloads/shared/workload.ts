import { defineWorkflow } from "../../../src/index.ts";
import type { ChaosApplication, Workload } from "../../workload.ts";
import { accountForShared, type CollectedShared } from "./accounts.ts";
import { produce, type SharedApplication, type SharedParams } from "./produce.ts";

const PAGE = 1000;
const UNFINISHED = ["queued", "running", "waiting"] as const;

/** Processes that write the same ids at the same time, each in an order of its own. */
export const sharedWorkload: Workload = {
  name: "shared ids",
  tables: [],
  hooks: () => ({}),
  workflows: () => ({
    // The token of the caller whose create counted.
    chaosShared: defineWorkflow<SharedParams, undefined, undefined, string>(
      { name: "chaosShared" },
      async ({ payload }, step) => step.do("give", async () => payload.by),
    ),
  }),
  produce,
  left,
  collect,
  accounts: (entries, collected) => accountForShared(entries, collected as readonly CollectedShared[]),
};

function bindingOf(app: ChaosApplication) {
  return (app as unknown as SharedApplication).workflows.chaosShared;
}

async function left(app: ChaosApplication): Promise<number> {
  let found = 0;
  for (const status of UNFINISHED) found += (await bindingOf(app).list({ status, limit: PAGE })).instances.length;
  return found;
}

async function collect(app: ChaosApplication): Promise<CollectedShared[]> {
  const found: CollectedShared[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await bindingOf(app).list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    for (const { id, status, output } of page.instances)
      found.push({ id, status, by: (output as string | undefined) ?? null });
    cursor = page.cursor;
  }
  return found;
}
