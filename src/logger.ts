import { InvalidInputError } from "./errors.ts";

/** Receives Perdure's log lines. They never contain payloads, cursors or secrets. */
export interface Logger {
  info(message: string, details?: LogDetails): void;
  warn(message: string, details?: LogDetails): void;
  error(message: string, details?: LogDetails): void;
}

export type LogDetails = Readonly<Record<string, unknown>>;

export const consoleLogger: Logger = {
  info: (message, details) => write("info", message, details),
  warn: (message, details) => write("warn", message, details),
  error: (message, details) => write("error", message, details),
};

/** The console, unless a logger was given. Checked at once, not first when an error must be logged. */
export function checkLogger(logger: Logger | undefined): Logger {
  if (logger === undefined) return consoleLogger;
  const { info, warn, error } = (logger ?? {}) as unknown as Record<string, unknown>;
  if ([info, warn, error].every((method) => typeof method === "function")) return logger;
  throw new InvalidInputError("options.invalid", "logger must have the methods info, warn and error.");
}

function write(level: "info" | "warn" | "error", message: string, details: LogDetails | undefined): void {
  if (details === undefined) console[level](`[perdure] ${message}`);
  else console[level](`[perdure] ${message}`, details);
}
