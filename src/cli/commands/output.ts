import { type Command, Option } from "commander";
import { pause, systemClock } from "../../clock.ts";
import type { CommandContext } from "../context.ts";
import { usageError } from "../failures.ts";
import { Screen } from "../terminal/screen.ts";

export interface OutputFlags {
  readonly json?: boolean;
  readonly watch?: boolean;
  readonly interval?: string;
}

export function withJson(command: Command): Command {
  return command.option("--json", "prints the server's answer as JSON, for programs");
}

export function withWatch(command: Command): Command {
  return withJson(command)
    .option("-w, --watch", "repeats until Ctrl-C")
    .addOption(new Option("--interval <seconds>", "between two rounds of --watch").default("2"));
}

/** A result: as JSON, or as text that `draw` makes. With `--watch`, again and again. */
export async function show<Data>(
  { terminal, signal }: CommandContext,
  flags: OutputFlags,
  load: () => Promise<Data>,
  draw: (data: Data) => string,
): Promise<void> {
  const screen = flags.watch && terminal.live ? new Screen(terminal) : null;
  const print = (data: Data) => {
    if (flags.json) terminal.printJson(data);
    else if (screen !== null) screen.paint(draw(data));
    else terminal.print(draw(data));
  };
  const seconds = Number(flags.interval ?? 2);
  if (!(seconds >= 0.1 && seconds <= 3600)) throw usageError("--interval must be from 0.1 to 3600 seconds.");
  for (;;) {
    print(await load());
    if (!flags.watch) return;
    await pause(systemClock, seconds * 1000, signal);
    if (signal.aborted) return;
  }
}
