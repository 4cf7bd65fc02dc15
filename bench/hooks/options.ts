import { parseArgs } from "node:util";
import { UsageError } from "../harness/usage-error.ts";
import type { Engine } from "./contender.ts";
import type { Work } from "./work.ts";
import { WORKS } from "./works.ts";

const ENGINES: readonly Engine[] = ["sqlite", "postgres"];

export interface Options {
  readonly short: boolean;
  readonly json: boolean;
  readonly engines: readonly Engine[];
  readonly works: readonly Work[];
}

export function parseOptions(argv: string[]): Options {
  const { short, json, engine, only } = parse(argv);
  return {
    short,
    json,
    engines: engine === undefined ? ENGINES : [findEngine(engine)],
    works: only === undefined ? WORKS : only.map(findWork),
  };
}

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      options: {
        short: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
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
function findWork(name: string): Work {
  const work = WORKS.find((candidate) => candidate.name === name.replaceAll("-", " "));
  if (work !== undefined) return work;
  throw new UsageError(`there is no work "${name}"`, WORKS.map((known) => `"${known.name}"`).join(", "));
}
