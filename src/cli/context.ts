import type { Terminal } from "./terminal/terminal.ts";

/** What a command gets from its process. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** Sets the exit code of a command that doesn't fail, but has found a problem. */
  readonly exitWith: (code: number) => void;
}
