import { existsSync } from "node:fs";
import type { Command } from "commander";
import { openDatabase } from "../../app/open-database.ts";
import { migrateEngine } from "../../store/migrate-store.ts";
import type { Store } from "../../store/store.ts";
import { findModule, loadModule } from "../applications/application-module.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError, usageError } from "../failures.ts";
import { showAddress } from "../targets/secrets.ts";
import { readTarget, type TargetFlags, withTarget } from "../targets/target-options.ts";

interface Flags extends TargetFlags {
  readonly print?: string | true;
  readonly check?: boolean;
  readonly create?: boolean;
}

interface OpenedStore {
  readonly store: Store;
  readonly address: string;
  readonly close: () => Promise<void>;
}

export function addMigrate(program: Command, context: CommandContext): void {
  const command = program
    .command("migrate")
    .summary("creates and updates Perdure's tables")
    .option("--check", `changes nothing; exit code ${ExitCode.problem} if migrations are missing`)
    .option("--print [dialect]", "prints the SQL for an empty database instead: postgres or sqlite")
    .option("--create", "creates the SQLite file if there is none");
  withTarget(command).action(async (flags: Flags) => {
    if (flags.print !== undefined) {
      context.terminal.print(await printSql(flags, context));
      return;
    }
    const opened = await openStore(flags, context);
    try {
      await (flags.check ? check(opened, context) : migrate(opened, context));
    } finally {
      await opened.close();
    }
  });
}

async function migrate({ store, address }: OpenedStore, { terminal }: CommandContext): Promise<void> {
  const before = (await store.engine.appliedMigrations()).length;
  await migrateEngine(store.engine, []);
  const applied = (await store.engine.appliedMigrations()).length - before;
  const { ok } = terminal.symbols;
  const done = applied === 0 ? "is up to date" : `is migrated: ${applied} applied`;
  terminal.print(`${terminal.style("green", ok)} ${address} ${done}`);
}

async function check({ store, address }: OpenedStore, { terminal, exitWith }: CommandContext): Promise<void> {
  const { findSchemaProblem } = await import("../../store/migrate-store.ts");
  const problem = await findSchemaProblem(store.engine, []);
  if (problem === null) {
    terminal.print(`${terminal.style("green", terminal.symbols.ok)} ${address} is up to date`);
    return;
  }
  terminal.print(`${terminal.style("red", terminal.symbols.failed)} ${address}: ${problem}`);
  terminal.note("Bring it up to date: perdure migrate.");
  exitWith(ExitCode.problem);
}

/** The SQL for operators who run it themselves, because the application's user may not. */
async function printSql({ print, ...flags }: Flags, { env }: CommandContext): Promise<string> {
  const dialect = print === true ? dialectOf(flags, env) : print;
  if (dialect === "postgres") return (await import("../../store/postgres/index.ts")).postgresMigrations();
  if (dialect === "sqlite") return (await import("../../store/sqlite/index.ts")).sqliteMigrations();
  throw usageError("--print takes postgres or sqlite.", "Or name the database with --database.");
}

function dialectOf(flags: TargetFlags, env: CommandContext["env"]): string | undefined {
  const name = readTarget(flags, env);
  if (name.kind !== "database") return undefined;
  return /^postgres(ql)?:/.test(name.database) ? "postgres" : "sqlite";
}

/** Opens the database alone: its tables may be missing, or those of another version. */
async function openStore(flags: Flags, { env, directory, terminal }: CommandContext): Promise<OpenedStore> {
  const name = readTarget(flags, env);
  if (name.kind === "server") throw usageError("A server migrates its own database.", "Use --database or --app.");
  let database: string;
  if (name.kind === "module") {
    const loaded = await loadModule(findModule(name.path, directory));
    if (loaded.kind === "started") {
      return { store: loaded.app.parts.store, address: name.path, close: () => loaded.app.stop() };
    }
    const given = loaded.options.database;
    if (typeof given !== "string") return { store: given.store, address: name.path, close: () => given.close() };
    database = given;
  } else database = name.database;
  const isUrl = /^[a-z][a-z0-9+.-]+:\/\//i.test(database);
  if (!isUrl && !flags.create && !existsSync(database)) {
    throw new CommandError("cli.file_not_found", `There is no file ${database}.`, {
      exitCode: ExitCode.notFound,
      next: "Check the path, or create it with --create.",
    });
  }
  const logger = {
    info: () => {},
    warn: (line: string) => terminal.note(line),
    error: (line: string) => terminal.note(line),
  };
  const { store } = await openDatabase(database, { logger });
  return { store, address: showAddress(database), close: () => store.close() };
}
