import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError } from "../failures.ts";
import { openTarget } from "../targets/open-target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { claimOutput } from "../terminal/claim-output.ts";

interface Flags extends TargetFlags {
  readonly actions?: boolean;
  readonly payloads?: boolean;
}

const SDK = "@modelcontextprotocol/sdk";

export function addMcp(program: Command, context: CommandContext): void {
  const command = program
    .command("mcp")
    .summary("serves an assistant over the Model Context Protocol, on the standard input and output; it only reads")
    .option("--actions", "also offers tools that change something")
    .option("--payloads", "shows params, outputs, payloads and messages of errors");
  withTarget(command).action(async ({ actions = false, payloads = false, ...flags }: Flags) => {
    const { terminal, signal } = context;
    using output = claimOutput(terminal.streams);
    const { serveTools } = await loadServer();
    await using target = await openTarget(flags, context);
    if (terminal.interactive)
      terminal.note(`perdure mcp waits for a client of MCP on its standard input; see docs/mcp.md`);
    await serveTools({ api: target.api, actions, payloads }, { stdin: terminal.streams.stdin, output, signal });
  });
}

/** The SDK is a package of its own, which few installations of this program need. */
async function loadServer(): Promise<typeof import("../mcp-session.ts")> {
  try {
    return await import("../mcp-session.ts");
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new CommandError("cli.package_missing", `perdure mcp needs the package ${SDK}, which isn't installed.`, {
      exitCode: ExitCode.failed,
      next: `Install it beside perdure: npm install ${SDK}`,
    });
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" && String(message).includes(SDK);
}
