import type { LogDetails, Logger } from "../../../src/logger.ts";

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly details: LogDetails | undefined;
}

/** Keeps what is logged, for tests to read. */
export class LogBook implements Logger {
  readonly lines: LogLine[] = [];

  info(message: string, details?: LogDetails): void {
    this.lines.push({ level: "info", message, details });
  }

  warn(message: string, details?: LogDetails): void {
    this.lines.push({ level: "warn", message, details });
  }

  error(message: string, details?: LogDetails): void {
    this.lines.push({ level: "error", message, details });
  }

  /** The messages of a level. */
  messages(level: LogLine["level"]): string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.message);
  }
}
