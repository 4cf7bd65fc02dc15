import { parseArgs } from "node:util";
import type { Engine } from "./contender.ts";
import { UsageError } from "./usage-error.ts";

const ENGINES: readonly Engine[] = ["sqlite", "postgres"];

export interface Options<Named> {
  readonly short: boolean;
  readonly json: boolean;
  readonly chart: string | undefined;
  /** Whether to try settings of the peers, instead of comparing all contenders. */
  readonly sweep: boolean;
  /** Instead of the suite's own number of rounds. */
  readonly rounds: number | undefined;
  readonly engines: readonly Engine[];
  readonly works: readonly Named[];
}

export function parseOptions<Named extends { readonly name: string }>(
  argv: string[],
  works: readonly Named[],
): Options<Named> {
  const { short, json, chart, sweep, rounds, engine, only } = parse(argv);
  return {
    short,
    json,
    chart,
    sweep,
    rounds: rounds === undefined ? undefined : readNumber("rounds", rounds, 1),
    engines: engine === undefined ? ENGINES : [findEngine(engine)],
    works: only === undefined ? works : only.map((name) => findWork(name, works)),
  };
}

function parse(argv: string[]) {
  return parseKnown(argv, {
    ...COMMON,
    ...engineOptions,
    sweep: { type: "boolean", default: false },
    rounds: { type: "string" },
    only: { type: "string", multiple: true },
  });
}

function findEngine(name: string): Engine {
  const engine = ENGINES.find((candidate) => candidate === name);
  if (engine === undefined) throw new UsageError(`there is no engine "${name}"`, ENGINES.join(" or "));
  return engine;
}

/** Dashes may stand for blanks, to save the quotes. */
function findWork<Named extends { readonly name: string }>(name: string, works: readonly Named[]): Named {
  const work = works.find((candidate) => candidate.name === name.replaceAll("-", " "));
  if (work !== undefined) return work;
  throw new UsageError(`there is no work "${name}"`, works.map((known) => `"${known.name}"`).join(", "));
}

/** What every suite accepts. */
const COMMON = {
  short: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  chart: { type: "string" },
} as const;

export const engineOptions = { engine: { type: "string" } } as const;

type OptionTypes = Readonly<
  Record<string, { readonly type: "string" | "boolean"; readonly default?: boolean; readonly multiple?: boolean }>
>;

/** The options of a suite that has some of its own. */
export function parseSuiteOptions<Own extends OptionTypes>(argv: string[], own: Own) {
  const values = parseKnown(argv, { ...COMMON, ...own });
  const engine = (values as { readonly engine?: string }).engine;
  return { values, engines: engine === undefined ? ENGINES : [findEngine(engine)] };
}

function parseKnown<Types extends OptionTypes>(argv: string[], options: Types) {
  try {
    return parseArgs({ args: argv, options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, "what follows");
  }
}

/** A whole number from the command line. */
export function readNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UsageError(`--${name} can't be "${text}"`, "a whole number from 1");
  return value;
}
