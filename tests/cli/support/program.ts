import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { spawn as spawnInTerminal } from "@lydell/node-pty";
import { root } from "../../../scripts/entry-points.ts";
import { waitUntil } from "../../support/wait-until.ts";

/** Programs run from the sources. */
const FROM_SOURCE = ["--import", join(root, "scripts/from-source.ts")];
const PERDURE = join(root, "src/cli/perdure.ts");

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: `perdure`, as users have it in their shell. */
  readonly program?: string;
  /** Parameters of Node. */
  readonly node?: readonly string[];
}

export interface Program {
  /** Everything that it has written. */
  output(): string;
  type(text: string): void;
  kill(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): void;
  readonly ended: Promise<number | null>;
  /** Waits for the first match in its output, from an index on. */
  says(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
}

function environment({ env = {} }: ProgramOptions): Record<string, string> {
  const { PATH = "", HOME = "", TMPDIR = "/tmp", NODE_COMPILE_CACHE = "" } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, LANG: "C.UTF-8", ...env };
}

function toArguments(parameters: readonly string[], { node = [], program = PERDURE }: ProgramOptions): string[] {
  return [...node, ...FROM_SOURCE, program, ...parameters];
}

/** Runs it in a pseudo-terminal. */
export function runInTerminal(parameters: readonly string[], options: ProgramOptions): Program {
  const all = toArguments(parameters, options);
  const env = { TERM: "xterm-256color", ...environment(options) };
  const terminal = spawnInTerminal(process.execPath, all, { cwd: options.cwd, env, cols: 100, rows: 40 });
  let output = "";
  terminal.onData((text) => {
    output += text;
  });
  let running = true;
  const ended = new Promise<number>((resolve) =>
    terminal.onExit(({ exitCode }) => {
      running = false;
      resolve(exitCode);
    }),
  );
  return describe({
    output: () => output,
    running: () => running,
    ended,
    type: (text) => terminal.write(text),
    kill: (signal) => terminal.kill(signal),
  });
}

/** Runs it with pipes. */
export function runInPipe(parameters: readonly string[], options: ProgramOptions): Program {
  const all = toArguments(parameters, options);
  const child: ChildProcess = spawn(process.execPath, all, { cwd: options.cwd, env: environment(options) });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "close").then(([code]) => code as number | null);
  return describe({
    output: () => output,
    running: () => child.exitCode === null && child.signalCode === null,
    ended,
    type: (text) => void child.stdin?.end(text),
    kill: (signal) => void child.kill(signal),
  });
}

function describe(parts: Omit<Program, "says"> & { readonly running: () => boolean }): Program {
  const says = (pattern: RegExp, from = 0) =>
    waitUntil(`it says ${pattern}; it said:\n${parts.output()}`, () => {
      const found = pattern.exec(parts.output().slice(from));
      if (found === null && !parts.running()) throw new Error(`It ended:\n${parts.output()}`);
      return found;
    });
  return { ...parts, says };
}
