import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { VERSION } from "../../version.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError } from "../failures.ts";
import { type Database, projectFiles } from "./project-files.ts";

interface Flags {
  readonly database?: Database;
  readonly yes?: boolean;
}

export function addInit(program: Command, context: CommandContext): void {
  program
    .command("init")
    .summary("writes a minimal project that runs")
    .argument("[directory]", "a new one, or an empty one; default: this one")
    .addOption(new Option("--database <kind>", "the database; default: sqlite").choices(["sqlite", "postgres"]))
    .option("-y, --yes", "asks no question")
    .action(async (given: string | undefined, flags: Flags) => {
      const { directory, database } = await ask(context, given, flags);
      const target = resolve(context.directory, directory);
      const files = projectFiles({ name: toPackageName(target), version: VERSION, database });
      refuseToOverwrite(target, Object.keys(files));
      mkdirSync(target, { recursive: true });
      for (const [name, text] of Object.entries(files)) writeFileSync(join(target, name), text, { flag: "wx" });
      tellNext(context, directory, database);
    });
}

/** Questions whose answers weren't given as options. */
async function ask(
  { terminal }: CommandContext,
  given: string | undefined,
  flags: Flags,
): Promise<{ readonly directory: string; readonly database: Database }> {
  if (flags.yes || !terminal.interactive) return { directory: given ?? ".", database: flags.database ?? "sqlite" };
  const { isCancel, select, text } = await import("@clack/prompts");
  const { stdin: input, stderr: output } = terminal.streams;
  const orStop = <Answer>(answer: Answer): Exclude<Answer, symbol> => {
    if (!isCancel(answer)) return answer as Exclude<Answer, symbol>;
    throw new CommandError("cli.declined", "Nothing was written.", { exitCode: ExitCode.declined });
  };
  const directory = given ?? orStop(await text({ message: "Directory", initialValue: "my-app", input, output }));
  const options: { value: Database; label: string; hint: string }[] = [
    { value: "sqlite", label: "SQLite", hint: "a file, one machine" },
    { value: "postgres", label: "PostgreSQL", hint: "a server, several machines" },
  ];
  const database = flags.database ?? orStop(await select({ message: "Database", options, input, output }));
  return { directory, database };
}

function refuseToOverwrite(directory: string, names: readonly string[]): void {
  const found = names.filter((name) => existsSync(join(directory, name)));
  if (found.length === 0) return;
  throw new CommandError("cli.file_exists", `${directory} already has ${found.join(", ")}: nothing was written.`, {
    exitCode: ExitCode.conflict,
    next: "Choose another directory: perdure init my-app.",
  });
}

function toPackageName(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "");
  return name === "" ? "my-app" : name;
}

function tellNext({ terminal }: CommandContext, directory: string, database: Database): void {
  terminal.print(`${terminal.style("green", terminal.symbols.ok)} A project is in ${directory}. Next:`);
  const steps = [
    ...(directory === "." ? [] : [`cd ${directory}`]),
    "npm install",
    ...(database === "postgres" ? ["export DATABASE_URL=postgres://…"] : []),
    "npx perdure dev",
  ];
  for (const step of steps) terminal.print(`  ${step}`);
}
