import type { Command } from "commander";
import { withJson } from "../commands/output.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError } from "../failures.ts";
import { linkTo, readPlace } from "./dev-session.ts";

const ANSWER_MS = 5000;

export function addOpen(program: Command, context: CommandContext): void {
  const command = program
    .command("open")
    .summary("prints a new link to the dashboard of the `perdure dev` that runs in this directory");
  withJson(command).action(async ({ json }: { readonly json?: boolean }) => {
    const { terminal, directory } = context;
    const url = await askForLink(directory);
    if (json) terminal.printJson({ url });
    else terminal.print(url);
  });
}

async function askForLink(directory: string): Promise<string> {
  const place = readPlace(directory);
  if (place === null) throw notRunning();
  const { port, control } = place;
  const answer = await fetch(`http://127.0.0.1:${port}/link`, {
    method: "POST",
    headers: { authorization: `Bearer ${control}` },
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => null);
  if (answer === null || !answer.ok) throw notRunning();
  const { token } = (await answer.json()) as { readonly token: string };
  return linkTo(port, token);
}

function notRunning(): CommandError {
  return new CommandError("cli.not_running", "No `perdure dev` runs in this directory.", {
    exitCode: ExitCode.unreachable,
    next: "Start one: perdure dev. A dashboard of your own has the address at which createDashboard is mounted.",
  });
}
