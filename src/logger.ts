import { InvalidInputError } from "./errors.ts";

/**
 * Receives Perdure's log lines. They never contain payloads, cursors or secrets. `console`, `pino()` and others whose methods
 * take a message and details, or pino's order, can be used as they are. An error is in `details.error`, for pino in `err`.
 */
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
  if ([info, warn, error].every((method) => typeof method === "function")) {
    return takesDetailsFirst(logger) ? detailsFirst(logger) : logger;
  }
  throw new InvalidInputError("options.invalid", "logger must have the methods info, warn and error.");
}

/**
 * The logger of a database that was opened without one: the console, until an application that uses the database brings its own.
 */
export class BorrowedLogger implements Logger {
  #lender = consoleLogger;

  borrow(lender: Logger): void {
    this.#lender = lender;
  }

  info(message: string, details?: LogDetails): void {
    this.#lender.info(message, details);
  }

  warn(message: string, details?: LogDetails): void {
    this.#lender.warn(message, details);
  }

  error(message: string, details?: LogDetails): void {
    this.#lender.error(message, details);
  }
}

/** The methods of pino and its relatives take the details before the message, and drop details that follow it. */
interface DetailsFirstLogger {
  info(details: LogDetails, message: string): void;
  warn(details: LogDetails, message: string): void;
  error(details: LogDetails, message: string): void;
}

/** Known by the methods of pino, and of bunyan, with which children get fixed fields. */
function takesDetailsFirst(logger: unknown): logger is DetailsFirstLogger {
  const { child, bindings, fields } = logger as Record<string, unknown>;
  return typeof child === "function" && (typeof bindings === "function" || typeof fields === "object");
}

function detailsFirst(logger: DetailsFirstLogger): Logger {
  return {
    info: (message, details) => logger.info(toFields(details), message),
    warn: (message, details) => logger.warn(toFields(details), message),
    error: (message, details) => logger.error(toFields(details), message),
  };
}

/** Such loggers serialize errors under the key `err`. */
function toFields({ error, ...others }: LogDetails = {}): LogDetails {
  return error instanceof Error ? { ...others, err: error } : { ...others, ...(error !== undefined && { error }) };
}

function write(level: "info" | "warn" | "error", message: string, details: LogDetails | undefined): void {
  if (details === undefined) console[level](`[perdure] ${message}`);
  else console[level](`[perdure] ${message}`, details);
}
