import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createDiskDirectory } from "../harness/disk-directory.ts";
import { progress } from "../harness/progress.ts";
import { drawChart } from "../harness/report/chart.ts";
import { reasonOf } from "../harness/report/failure.ts";
import type { Result } from "../harness/report/result.ts";
import { describeMachine, versionsOf } from "../harness/report/versions.ts";
import { median } from "../harness/statistics.ts";
import { UsageError } from "../harness/usage-error.ts";
import { CONTENDERS, type WorkerdContender } from "./contenders.ts";

const FULL = { rounds: 5, workflows: 300 };
const SHORT = { rounds: 1, workflows: 40 };
const WARM_UP_SHARE = 0.1;
const VERSIONS = versionsOf([{ packages: ["miniflare", "workerd"] }]);

type Scale = typeof FULL;

/**
 * Three-step workflows inside workerd: ours in Durable Objects, beside the workflows that miniflare runs itself. Each contender
 * has a fresh directory on disk in each round, and they take turns. False if ours failed.
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
  if (values.chart !== undefined) await writeFile(values.chart, drawChart("workerd", resultsOf(paces)));
  return valid;
}

function parse(argv: string[]): {
  readonly short: boolean;
  readonly json: boolean;
  readonly chart?: string | undefined;
} {
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({ args: argv, options: { short: flag, json: flag, chart: { type: "string" } } }).values;
  } catch (error) {
    throw new UsageError(reasonOf(error), "--short, --json and --chart file.svg");
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
  const settings = [describeMachine(), methodOf({ rounds, workflows })];
  return JSON.stringify({ suite: "workerd", workflows, rounds, results, versions: VERSIONS, settings }, null, 2);
}

function report(paces: ReadonlyMap<WorkerdContender, readonly number[]>, scale: Scale): string {
  const peer = paceOfPeer(paces);
  const lines = [...paces].map(([{ name, role }, all]) => {
    if (all.length === 0) return `${name.padEnd(24)} failed`;
    const pace = median(all);
    const spread = all.length === 1 ? "" : `  (${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)})`;
    const ratio = role === "ours" && peer !== null ? `  ${(pace / peer).toFixed(1)} times miniflare's` : "";
    return `${name.padEnd(24)} ${pace.toFixed(0).padStart(7)} workflows/s${spread}${ratio}`;
  });
  const versions = Object.entries(VERSIONS).map(([name, version]) => `${name} ${version}`);
  return [methodOf(scale), ...lines, [...versions, describeMachine()].join(", ")].join("\n");
}

function methodOf({ rounds, workflows }: Scale): string {
  return `${workflows} three-step workflows at once in workerd, storage on disk; median of ${rounds} rounds`;
}

function paceOfPeer(paces: ReadonlyMap<WorkerdContender, readonly number[]>): number | null {
  const [pace = null] = [...paces].flatMap(([{ role }, all]) =>
    role === "peer" && all.length > 0 ? [median(all)] : [],
  );
  return pace;
}

/** A result per contender of ours, for the chart. */
function resultsOf(paces: ReadonlyMap<WorkerdContender, readonly number[]>): Result[] {
  const spread = (all: readonly number[]) => [Math.min(...all), Math.max(...all)] as const;
  const peers = [...paces].filter(([{ role }]) => role === "peer");
  return [...paces].flatMap(([{ name, role }, all]) => {
    if (role === "peer") return [];
    const measured = [["ours", all] as const, ...peers.map(([peer, rounds]) => [peer.name, rounds] as const)];
    return {
      work: name,
      engine: "workerd",
      ours: all.length === 0 ? null : median(all),
      peers: Object.fromEntries(
        peers.map(([peer, rounds]) => [peer.name, rounds.length === 0 ? null : median(rounds)]),
      ),
      spreads: Object.fromEntries(
        measured.flatMap(([who, rounds]) => (rounds.length === 0 ? [] : [[who, spread(rounds)]])),
      ),
      unit: "workflows/s",
      better: "higher" as const,
    };
  });
}
