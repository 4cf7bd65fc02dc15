/** Where Perdure says what went wrong. Payloads, cursors and secrets never go into it. */
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

function write(level: "info" | "warn" | "error", message: string, details: LogDetails | undefined): void {
  if (details === undefined) console[level](`[perdure] ${message}`);
  else console[level](`[perdure] ${message}`, details);
}
