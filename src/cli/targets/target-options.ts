import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { usageError } from "../failures.ts";
import { keepSecret, keepUrlSecret } from "./secrets.ts";

/** What a command works on, as the command line and the environment name it. */
export type TargetName =
  | { readonly kind: "server"; readonly url: string; readonly token: string | null }
  | { readonly kind: "database"; readonly database: string; readonly namespace: string }
  | { readonly kind: "module"; readonly path: string; readonly namespace: string | null };

export interface TargetFlags {
  readonly database?: string;
  readonly server?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly namespace?: string;
  readonly app?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds the options by which a command finds its application. */
export function withTarget(command: Command): Command {
  return command
    .addOption(new Option("-d, --database <path or URL>", "an SQLite file or a postgres:// URL (PERDURE_DATABASE)"))
    .addOption(new Option("-s, --server <URL>", "where createHttpHandler is mounted (PERDURE_SERVER)"))
    .addOption(new Option("--token <token>", "for --server; other users can see it, so prefer PERDURE_TOKEN"))
    .addOption(new Option("--token-file <file>", "a file that contains the token"))
    .addOption(new Option("-a, --app <module>", "the application module, for what needs its code"))
    .addOption(new Option("-n, --namespace <name>", "of the application in the database (PERDURE_NAMESPACE)"))
    .optionsGroup("Options:");
}

/** Flags come before the environment. Nothing is guessed: a command on the wrong database can do harm. */
export function readTarget(flags: TargetFlags, env: Environment): TargetName {
  const given = [flags.database, flags.server, flags.app].filter((one) => one !== undefined);
  if (given.length > 1) throw usageError("--database, --server and --app exclude each other.");
  const [ofDatabase, ofServer, ofNamespace] = ["DATABASE", "SERVER", "NAMESPACE"].map(
    (name) => env[`PERDURE_${name}`] || undefined, // an empty variable is like none
  );
  const namespace = flags.namespace ?? ofNamespace;
  if (flags.app !== undefined) return { kind: "module", path: flags.app, namespace: namespace ?? null };
  const database = flags.database ?? (flags.server === undefined ? ofDatabase : undefined);
  const server = flags.server ?? (flags.database === undefined ? ofServer : undefined);
  if (database !== undefined && server !== undefined) {
    throw usageError("PERDURE_DATABASE and PERDURE_SERVER are both set.", "Choose one with --database or --server.");
  }
  if (server !== undefined) return { kind: "server", url: server, token: readToken(flags, env) };
  if (database === undefined) {
    throw usageError(
      "The command needs to know the application.",
      "Pass --database app.db, --database postgres://…, --server https://… or --app app.ts.",
    );
  }
  keepUrlSecret(database);
  return { kind: "database", database, namespace: namespace ?? "app" };
}

function readToken({ token, tokenFile }: TargetFlags, env: Environment): string | null {
  const read = tokenFile === undefined ? (token ?? env["PERDURE_TOKEN"]) : readFileSync(tokenFile, "utf8").trim();
  keepSecret(read);
  return read ?? null;
}
