import { existsSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Application } from "../../app/application.ts";
import type { PerdureOptions } from "../../app/perdure.ts";
import type { HookDefinitions } from "../../hooks/define-hook.ts";
import type { Workflows } from "../../workflows/define/workflow-types.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError, usageError } from "../failures.ts";

export type AnyApplication = Application<HookDefinitions, Workflows>;
export type ApplicationOptions = PerdureOptions<HookDefinitions, Workflows>;

/** What a module exports: the options of an application, or one that the module has started itself. */
export type LoadedModule =
  | { readonly kind: "options"; readonly options: ApplicationOptions }
  | { readonly kind: "started"; readonly app: AnyApplication };

/** The files that commands try if none is named. */
const USUAL = ["app.ts", "app.js", "app.mjs", "src/app.ts", "src/app.js", "src/app.mjs"];

const EXPORTS =
  "It must export the options of perdure() as default, or an application as `app`: export default { database, workflows }.";

/** The path of the application module, in a command's directory. */
export function findModule(given: string | undefined, directory: string): string {
  const path = given ?? USUAL.find((name) => existsSync(resolve(directory, name)));
  if (path === undefined) {
    throw usageError(`There is no ${USUAL[0]} here.`, "Name the application module, or write one: perdure init.");
  }
  const file = resolve(directory, path);
  if (existsSync(file)) return file;
  throw new CommandError("cli.module_not_found", `There is no file ${path}.`, {
    exitCode: ExitCode.notFound,
    next: "Name the application module, or write one: perdure init.",
  });
}

/** Loads an application module. `export default` may also be a function that returns either, or a promise. */
export async function loadModule(file: string): Promise<LoadedModule> {
  if (/^\.[mc]?ts$/.test(extname(file)) && !process.features.typescript) {
    throw usageError(
      `This Node, ${process.versions.node}, doesn't run TypeScript.`,
      "Use Node 22.18 or newer, set NODE_OPTIONS=--experimental-strip-types, or compile the module to JavaScript.",
    );
  }
  const value = await evaluate(file).catch((error: unknown) => {
    throw brokenModule(file, error);
  });
  if (isApplication(value)) return { kind: "started", app: value };
  if (typeof value === "object" && value !== null && "database" in value) {
    return { kind: "options", options: value as ApplicationOptions };
  }
  throw usageError(`${file} isn't an application module.`, EXPORTS);
}

async function evaluate(file: string): Promise<unknown> {
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown; readonly app?: unknown };
  const exported = module.default ?? module.app;
  return typeof exported === "function" ? await exported() : await exported;
}

/** With the place in the user's code, and without the frames of Node and of commands. */
function brokenModule(file: string, error: unknown): CommandError {
  const trace = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  const [own = ""] = trace.split(/\n +at async evaluate /);
  const lines = own.split("\n").filter((line) => !/^ +at .*\bnode:/.test(line));
  return new CommandError("cli.module_broken", `${basename(file)} can't be loaded.\n${lines.join("\n").trimEnd()}`, {
    exitCode: ExitCode.failed,
  });
}

/** An adapter in a module's options was made for the command that loads it, which is over. */
export async function closeAdapter({ database }: ApplicationOptions): Promise<void> {
  if (typeof database !== "string") await database.close();
}

/** Checked by shape: it may come from another copy of this package. */
function isApplication(value: unknown): value is AnyApplication {
  const { parts, stop } = Object(value) as Partial<AnyApplication>;
  return parts?.store !== undefined && typeof stop === "function";
}
