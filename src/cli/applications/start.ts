import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Command } from "commander";
import { bearerToken, createHttpHandler } from "../../http/index.ts";
import { toNodeHandler } from "../../http/node.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { usageError } from "../failures.ts";
import { keepSecret } from "../targets/secrets.ts";
import { type AnyApplication, findModule } from "./application-module.ts";
import { runApplication } from "./run-application.ts";

interface Flags {
  readonly port?: string;
  readonly host: string;
  readonly deadline: string;
}

export function addStart(program: Command, context: CommandContext): void {
  program
    .command("start")
    .summary("runs an application in production, until SIGTERM or Ctrl-C")
    .argument("[module]", "the application module; default: app.ts, or app.js")
    .option("-p, --port <number>", "serves the HTTP API, for callers with the token PERDURE_TOKEN")
    .option("--host <address>", "where it listens", "127.0.0.1")
    .option("--deadline <seconds>", "for running work, when it is stopped", "30")
    .action(async (module: string | undefined, flags: Flags) => {
      const file = findModule(module, context.directory);
      const deadlineMs = parseNumber("--deadline", flags.deadline, 3600) * 1000;
      const port = flags.port === undefined ? null : parseNumber("--port", flags.port, 65_535);
      const token = port === null ? null : requireToken(context);
      const { app, stop } = await runApplication(file);
      try {
        const server = port === null || token === null ? null : await serve(app, { port, host: flags.host, token });
        context.terminal.note(`perdure runs ${file}${server === null ? "" : `, and serves ${showListening(server)}`}`);
        await untilAborted(context.signal);
        context.terminal.note("perdure is stopping: it waits for running work");
        server?.close();
        server?.closeIdleConnections();
      } finally {
        await stop(deadlineMs);
      }
      context.exitWith(ExitCode.ok);
    });
}

function requireToken({ env }: CommandContext): string {
  const token = env["PERDURE_TOKEN"];
  if (token === undefined || token === "") {
    throw usageError("The HTTP API needs a token.", "Set PERDURE_TOKEN to a random text of at least 16 characters.");
  }
  keepSecret(token);
  return token;
}

async function serve(
  app: AnyApplication,
  { port, host, token }: { readonly port: number; readonly host: string; readonly token: string },
): Promise<Server> {
  const handler = createHttpHandler(app, { authorize: bearerToken(token), publicHealth: true });
  return listen(createServer(toNodeHandler(handler)), port, host);
}

/** Rejects if the port is taken. */
export function listen(server: Server, port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}

function showListening(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

export function parseNumber(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0 && number <= most && text.trim() !== "") return number;
  throw usageError(`${flag} must be a whole number from 0 to ${most}.`);
}
