import { readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";

const BENCH = fileURLToPath(new URL("../../", import.meta.url));

/** The machine that everything ran on. */
export function describeMachine(): string {
  return `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"})`;
}

/** The versions of the packages that the contenders name, as far as they are installed. */
export function versionsOf(contenders: readonly { readonly packages?: readonly string[] }[]): Record<string, string> {
  const names = new Set(contenders.flatMap(({ packages = [] }) => packages));
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const version = installedVersion(name);
      return version === undefined ? [] : [[name, version]];
    }),
  );
}

/** Peers are in the folder of the benchmarks, what the tests need as well is in the root's. */
function installedVersion(name: string): string | undefined {
  for (const folder of [BENCH, `${BENCH}../`]) {
    try {
      return JSON.parse(readFileSync(`${folder}node_modules/${name}/package.json`, "utf8")).version;
    } catch {
      // not in this one
    }
  }
  return undefined;
}
