import { join } from "node:path";
import { parseArgs } from "node:util";
import { createDiskDirectory } from "../harness/disk-directory.ts";
import { reasonOf } from "../harness/failure.ts";
import { progress } from "../harness/progress.ts";
import { median } from "../harness/statistics.ts";
import { UsageError } from "../harness/usage-error.ts";
import { CONTENDERS, type WorkerdContender } from "./contenders.ts";

const FULL = { rounds: 5, workflows: 300 };
const SHORT = { rounds: 1, workflows: 40 };
const WARM_UP_SHARE = 0.1;

type Scale = typeof FULL;

/**
 * Three-step workflows inside of workerd: ours in Durable Objects, beside the workflows that miniflare has itself. Everybody has
 * a fresh directory on disk in each round, and they take turns. False if ours failed.
 */
export async function runWorkerdSuite(
  argv: string[],
  contenders: readonly WorkerdContender[] = CONTENDERS,
): Promise<boolean> {
  const values = parse(argv);
  const scale = values.short ? SHORT : FULL;
  const paces = new Map(contenders.map((contender) => [contender, [] as number[]]));
  let valid = true;
  await using directory = await createDiskDirectory();
  for (let round = 1; round <= scale.rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      progress(`round ${round}, ${contender.name}`);
      try {
        paces.get(contender)?.push(await measure(contender, join(directory.path, `${round}-${index}`), scale));
      } catch (error) {
        progress(`FAILED ${contender.name}: ${reasonOf(error)}`);
        if (contender.role === "ours") valid = false;
      }
    }
  }
  process.stdout.write(`${values.json ? jsonReport(paces, scale) : report(paces, scale)}\n`);
  return valid;
}

function parse(argv: string[]): { readonly short: boolean; readonly json: boolean } {
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({ args: argv, options: { short: flag, json: flag } }).values;
  } catch (error) {
    throw new UsageError(reasonOf(error), "--short and --json");
  }
}

async function measure(contender: WorkerdContender, directory: string, { workflows }: Scale): Promise<number> {
  await using session = await contender.open(directory);
  await session.runMany(Math.ceil(workflows * WARM_UP_SHARE));
  const start = performance.now();
  await session.runMany(workflows);
  return (workflows / (performance.now() - start)) * 1000;
}

/** Progress goes to the standard error, so this is all that the standard output has. */
function jsonReport(paces: ReadonlyMap<WorkerdContender, readonly number[]>, { rounds, workflows }: Scale): string {
  const results = Array.from(paces, ([{ name, role }, all]) => ({
    name,
    role,
    unit: "workflows/s",
    median: all.length === 0 ? null : median(all),
    rounds: all,
  }));
  return JSON.stringify({ suite: "workerd", workflows, rounds, results }, null, 2);
}

function report(paces: ReadonlyMap<WorkerdContender, readonly number[]>, { rounds, workflows }: Scale): string {
  const [peer] = [...paces].flatMap(([{ role }, all]) => (role === "peer" && all.length > 0 ? [median(all)] : []));
  const lines = [...paces].map(([{ name, role }, all]) => {
    if (all.length === 0) return `${name.padEnd(24)} failed`;
    const pace = median(all);
    const ratio = role === "ours" && peer !== undefined ? `  ${(pace / peer).toFixed(1)} times miniflare's` : "";
    return `${name.padEnd(24)} ${pace.toFixed(0).padStart(7)} workflows/s${ratio}`;
  });
  const method = `${workflows} three-step workflows at once in workerd, storage on disk; median of ${rounds} rounds`;
  return [method, ...lines].join("\n");
}
