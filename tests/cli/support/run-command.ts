import { PassThrough, Readable } from "node:stream";
import { run } from "../../../src/cli/main.ts";
import { Terminal } from "../../../src/cli/terminal/terminal.ts";

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly directory?: string;
  /** What is written to its standard input. */
  readonly input?: string;
  readonly signal?: AbortSignal;
  /** Told of every piece of its standard output. */
  readonly onOut?: (text: string) => void;
  /** Told of every piece of its standard error. */
  readonly onErr?: (text: string) => void;
}

/** Runs a command in this process, as if its streams were pipes. */
export async function runCommand(parameters: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { env = {}, directory = process.cwd(), input = "", onOut, onErr } = options;
  const [out, err] = [collect(onOut), collect(onErr)];
  const stdin = Readable.from([input]);
  const terminal = new Terminal({ stdin, stdout: out.stream, stderr: err.stream, env, platform: "linux" });
  let set = 0;
  const context = {
    terminal,
    env,
    directory,
    signal: options.signal ?? new AbortController().signal,
    exitWith: (code: number) => {
      set = code;
    },
  };
  const code = await run(parameters, context);
  return { code: code ?? set, out: out.text(), err: err.text() };
}

function collect(tell: (text: string) => void = () => {}) {
  const stream = new PassThrough();
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    tell(chunk);
  });
  return { stream, text: () => text };
}
