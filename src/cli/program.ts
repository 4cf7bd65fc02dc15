import { Command } from "commander";
import { VERSION } from "../version.ts";
import { addDev } from "./applications/dev-command.ts";
import { addDevWorker } from "./applications/dev-worker.ts";
import { addInit } from "./applications/init.ts";
import { addOpen } from "./applications/open.ts";
import { addStart } from "./applications/start.ts";
import { addCompletion } from "./commands/completion.ts";
import { addExplain } from "./commands/explain.ts";
import { addExport, addReplay } from "./commands/export-replay.ts";
import { addHooks } from "./commands/hooks.ts";
import { addMcp } from "./commands/mcp.ts";
import { addMigrate } from "./commands/migrate.ts";
import { addSchedules } from "./commands/schedules.ts";
import { addSubjects } from "./commands/subjects.ts";
import { addTail } from "./commands/tail.ts";
import { addWorkers } from "./commands/workers.ts";
import { addWorkflows } from "./commands/workflows.ts";
import type { CommandContext } from "./context.ts";
import { addDoctor } from "./doctor/doctor.ts";

const EXAMPLES = `
Examples:
  perdure init my-app                                   a minimal project
  perdure dev                                           runs app.ts with the dashboard
  perdure workflows list --status errored -d app.db
  perdure workflows show checkout/order-1 -d app.db
  perdure doctor -d postgres://…                        exit code 3 if something is wrong
`;

/** All commands. */
export function createProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.terminal.streams;
  const program = new Command("perdure")
    .description("Durable hooks, workflows and subjects: run an application, and look after it.")
    .version(VERSION)
    .option("--no-color", "no colours; so does the variable NO_COLOR")
    .addHelpText("after", EXAMPLES)
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => context.terminal.columns,
      getErrHelpWidth: () => context.terminal.columns,
    });
  program.commandsGroup("Applications:");
  addInit(program, context);
  addDev(program, context);
  addDevWorker(program, context);
  addStart(program, context);
  addOpen(program, context);
  program.commandsGroup("Databases:");
  addMigrate(program, context);
  addDoctor(program, context);
  program.commandsGroup("Operations:");
  addWorkflows(program, context);
  addHooks(program, context);
  addSubjects(program, context);
  addSchedules(program, context);
  addWorkers(program, context);
  addExplain(program, context);
  addTail(program, context);
  addExport(program, context);
  addReplay(program, context);
  program.commandsGroup("Others:");
  addMcp(program, context);
  addCompletion(program, context);
  return program;
}
