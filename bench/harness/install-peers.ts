import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { progress } from "./progress.ts";

const BENCH = fileURLToPath(new URL("../", import.meta.url));

/**
 * Installs what bench/package-lock.json says, unless it is there already. A failure is printed and not thrown: the peers are
 * then reported as failed, and the rest can still be measured.
 */
export function installPeers(): void {
  if (isInstalled()) return;
  progress("Installing the peers (npm ci --prefix bench), once.");
  const npm = process.env["npm_execpath"];
  const [command, args] = npm === undefined ? ["npm", ["ci"]] : [process.execPath, [npm, "ci"]];
  const { status, error } = spawnSync(command, [...args, "--no-audit", "--no-fund"], {
    cwd: BENCH,
    stdio: ["ignore", process.stderr.fd, process.stderr.fd],
    env: environmentOfBench(),
  });
  if (status === 0) return;
  progress(`They couldn't be installed (${error?.message ?? `exit ${status}`}); going on without them.`);
}

/** npm passes its settings on to the programs that it runs; where the root installs must not decide where the peers go. */
function environmentOfBench(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env);
  return Object.fromEntries(entries.filter(([name]) => !/^npm_config_(local_)?prefix$/i.test(name)));
}

/** npm writes this file last, so it is newer than the lock file it was made from. */
function isInstalled(): boolean {
  const installed = statSync(`${BENCH}node_modules/.package-lock.json`, { throwIfNoEntry: false });
  const wanted = statSync(`${BENCH}package-lock.json`);
  return installed !== undefined && installed.mtimeMs >= wanted.mtimeMs;
}
