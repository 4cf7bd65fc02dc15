import { existsSync } from "node:fs";
import { inspect } from "../../app/perdure.ts";
import { createHttpHandler } from "../../http/index.ts";
import type { Logger } from "../../logger.ts";
import { findSchemaProblem } from "../../store/migrate-store.ts";
import { type AnyApplication, closeAdapter, findModule, loadModule } from "../applications/application-module.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError } from "../failures.ts";
import { keepSecret, keepUrlSecret, showAddress } from "./secrets.ts";
import { Target } from "./target.ts";
import { readTarget, type TargetFlags, type TargetName } from "./target-options.ts";

/** An application that this process has opened, without a worker. */
export interface OpenedApplication {
  readonly app: AnyApplication;
  readonly address: string;
  readonly close: () => Promise<void>;
}

const LOCAL_URL = "http://perdure.invalid";

/** Opens what a command names. The tables must be there: only `perdure migrate` creates or changes them. */
export async function openTarget(flags: TargetFlags, context: CommandContext): Promise<Target> {
  const name = readTarget(flags, context.env);
  if (name.kind === "server") return toServer(name);
  const opened = await openApplication(name, context);
  try {
    await requireTables(opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return inProcess(opened);
}

/** A command's handler lets it do everything: a person who can open the database could do so anyway. */
export function inProcess({ app, address, close }: OpenedApplication): Target {
  const fetch = createHttpHandler(app, { authorize: () => true, stackTraces: true, logger: SILENT });
  return new Target({ address, baseUrl: LOCAL_URL, fetch, token: null, app, close });
}

function toServer({ url, token }: Extract<TargetName, { kind: "server" }>): Target {
  keepUrlSecret(url);
  keepSecret(token ?? undefined);
  const fetch = (request: Request) => globalThis.fetch(request);
  return new Target({ address: showAddress(url), baseUrl: url, fetch, token, app: null, close: async () => {} });
}

/** Opens a database or a module's application. An application that its module has started keeps its worker. */
export async function openApplication(
  name: Exclude<TargetName, { kind: "server" }>,
  { directory, terminal }: CommandContext,
): Promise<OpenedApplication> {
  const logger = toLogger((line) => terminal.noteStyled("yellow", line));
  if (name.kind === "module") {
    const file = findModule(name.path, directory);
    const loaded = await loadModule(file);
    if (loaded.kind === "started") return opened(loaded.app, file);
    const { options } = loaded;
    if (typeof options.database === "string") requireFile(options.database);
    const namespace = name.namespace ?? options.namespace;
    const app = await inspect({ logger, ...options, ...(namespace && { namespace }) });
    return opened(app, file, () => closeAdapter(options));
  }
  const { database, namespace } = name;
  requireFile(database);
  const app = (await inspect({ database, namespace, logger })) as unknown as AnyApplication;
  return opened(app, showAddress(database));
}

function opened(app: AnyApplication, address: string, closeDatabase = async () => {}): OpenedApplication {
  const close = async () => {
    await app.stop({ deadlineMs: 0 });
    await closeDatabase();
  };
  return { app, address, close };
}

/** Opening a missing file would create it, so a mistyped name would look like an empty database. */
function requireFile(database: string): void {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(database) || existsSync(database)) return;
  throw new CommandError("cli.file_not_found", `There is no file ${database}.`, {
    exitCode: ExitCode.notFound,
    next: "Check the path. To create a database: perdure migrate --create.",
  });
}

async function requireTables({ app }: OpenedApplication): Promise<void> {
  const problem = await findSchemaProblem(app.parts.store.engine, []);
  if (problem === null) return;
  throw new CommandError("store.not_migrated", problem, {
    exitCode: ExitCode.problem,
    next: "Bring it up to date: perdure migrate; or see what is missing: perdure migrate --check.",
  });
}

const SILENT: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** Warnings concern the operator; what runs well doesn't. */
function toLogger(write: (line: string) => void): Logger {
  return { info: () => {}, warn: (message) => write(message), error: (message) => write(message) };
}
