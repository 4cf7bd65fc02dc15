import { CommanderError } from "commander";
import type { CommandContext } from "./context.ts";
import { ExitCode } from "./exit-codes.ts";
import { describeFailure } from "./failures.ts";
import { createProgram } from "./program.ts";
import { safeLines, safeText } from "./terminal/safe-text.ts";
import { Terminal } from "./terminal/terminal.ts";

/** Runs the command of this process. */
export async function main(parameters: readonly string[] = process.argv.slice(2)): Promise<void> {
  const { stdin, stdout, stderr, env, platform } = process;
  const colour = parameters.includes("--no-color") ? false : undefined;
  const terminal = new Terminal({ stdin, stdout, stderr, env, platform }, { colour });
  const interrupted = new AbortController();
  const context: CommandContext = {
    terminal,
    env,
    directory: process.cwd(),
    signal: interrupted.signal,
    exitWith: (code) => {
      process.exitCode = code;
    },
  };
  const interrupt = () => {
    if (interrupted.signal.aborted) process.exit(ExitCode.interrupted); // the second time, at once
    process.exitCode = ExitCode.interrupted;
    interrupted.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  stdout.on("error", endQuietly);
  process.exitCode = ExitCode.ok;
  const code = await run(parameters, context);
  if (code !== null) process.exitCode = code;
  process.off("SIGINT", interrupt);
  process.off("SIGTERM", interrupt);
}

/** Returns the exit code; null if the command has set it, or ended well. */
export async function run(parameters: readonly string[], context: CommandContext): Promise<number | null> {
  const { terminal, signal } = context;
  try {
    await createProgram(context).parseAsync([...parameters], { from: "user" });
    return null;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    if (signal.aborted) return ExitCode.interrupted;
    const { message, next, code, exitCode } = describeFailure(error);
    const suffix = code === "" || code.startsWith("cli.") ? "" : ` (${safeText(code)})`;
    terminal.noteStyled("red", `${terminal.symbols.failed} ${safeLines(message)}${suffix}`);
    if (next !== null) terminal.note(`${terminal.symbols.arrow} ${next}`);
    return exitCode;
  }
}

/** The reader of a pipe, such as `head`, has what it wanted. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(ExitCode.ok);
  throw error;
}
