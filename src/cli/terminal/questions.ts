import { ExitCode } from "../exit-codes.ts";
import { CommandError, usageError } from "../failures.ts";
import type { Terminal } from "./terminal.ts";

export interface Consent {
  /** What will be done, as a question: `Delete 12 instances?` */
  readonly question: string;
  /** Whether `--yes` was given. */
  readonly given: boolean;
}

/** Asks before something that can't be undone. Without a terminal there is no answer, so `--yes` is needed. */
export async function requireConsent(terminal: Terminal, { question, given }: Consent): Promise<void> {
  if (given) return;
  if (!terminal.interactive) {
    throw usageError(`${question} There is no terminal to ask.`, "Pass --yes to do it without a question.");
  }
  const { confirm } = await import("@clack/prompts");
  const { stdin: input, stderr: output } = terminal.streams;
  if ((await confirm({ message: question, initialValue: false, input, output })) === true) return;
  throw new CommandError("cli.declined", "Nothing was done.", { exitCode: ExitCode.declined });
}
