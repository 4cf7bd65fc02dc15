/**
 * `npm run bench -- <suite> [options]`: installs the peers on first use, then runs one suite. Nothing imported from here may
 * need a peer, because at this point there may be none.
 */
import { installPeers } from "./harness/install-peers.ts";
import { progress } from "./harness/progress.ts";
import { UsageError } from "./harness/usage-error.ts";

const SUITES: Readonly<Record<string, () => Promise<(argv: string[]) => Promise<boolean>>>> = {
  hooks: async () => (await import("./hooks/suite.ts")).runHooksSuite,
  workflows: async () => (await import("./workflows/suite.ts")).runWorkflowsSuite,
  growth: async () => (await import("./growth/suite.ts")).runGrowthSuite,
  idle: async () => (await import("./idle/suite.ts")).runIdleSuite,
  snapshot: async () => (await import("./snapshot/suite.ts")).runSnapshotSuite,
  workerd: async () => (await import("./workerd/suite.ts")).runWorkerdSuite,
};

async function main([suiteName, ...argv]: string[]): Promise<number> {
  const load = SUITES[suiteName ?? ""];
  if (load === undefined) {
    throw new UsageError(`there is no suite "${suiteName ?? ""}"`, `one of: ${Object.keys(SUITES).join(", ")}`);
  }
  const run = await load();
  installPeers();
  return (await run(argv)) ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  progress(error.message);
  process.exitCode = 2;
}
// A contender that was given up on may still hold timers or sockets.
process.exit();
