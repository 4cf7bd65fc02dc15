import { parseArgs } from "node:util";
import type { Engine } from "./contender.ts";
import { UsageError } from "./usage-error.ts";

const ENGINES: readonly Engine[] = ["sqlite", "postgres"];

export interface Options<Named> {
  readonly short: boolean;
  readonly json: boolean;
  readonly chart: string | undefined;
  /** Whether the peers' settings are tried out, instead of comparing everybody. */
  readonly sweep: boolean;
  readonly engines: readonly Engine[];
  readonly works: readonly Named[];
}

export function parseOptions<Named extends { readonly name: string }>(
  argv: string[],
  works: readonly Named[],
): Options<Named> {
  const { short, json, chart, sweep, engine, only } = parse(argv);
  return {
    short,
    json,
    chart,
    sweep,
    engines: engine === undefined ? ENGINES : [findEngine(engine)],
    works: only === undefined ? works : only.map((name) => findWork(name, works)),
  };
}

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      options: {
        short: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        chart: { type: "string" },
        sweep: { type: "boolean", default: false },
        engine: { type: "string" },
        only: { type: "string", multiple: true },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, "what follows");
  }
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
