import type { Readable, Writable } from "node:stream";
import { ASCII, type Symbols, UNICODE } from "./symbols.ts";

/** A stream that may be a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
export type Input = Readable & { readonly isTTY?: boolean };

export interface TerminalStreams {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
};

export type Style = keyof typeof CODES;

/** Width where none is known: of pipes and files. */
const USUAL_COLUMNS = 100;

/** Where a command reads and writes. Results go to the standard output; everything else goes to the standard error. */
export class Terminal {
  readonly streams: TerminalStreams;
  readonly symbols: Symbols;
  /** Whether questions can be asked. */
  readonly interactive: boolean;
  readonly #colours: boolean;
  readonly #errorColours: boolean;

  constructor(streams: TerminalStreams, options: { readonly colour?: boolean | undefined } = {}) {
    this.streams = streams;
    const { stdin, stdout, stderr } = streams;
    this.interactive = stdin.isTTY === true && stderr.isTTY === true;
    this.#colours = options.colour ?? supportsColour(streams, stdout);
    this.#errorColours = options.colour ?? supportsColour(streams, stderr);
    this.symbols = stdout.isTTY === true && supportsUnicode(streams) ? UNICODE : ASCII;
  }

  /** Whether the standard output is a terminal, which can be written over. */
  get live(): boolean {
    return this.streams.stdout.isTTY === true && this.streams.env["TERM"] !== "dumb";
  }

  get columns(): number {
    return this.streams.stdout.columns || USUAL_COLUMNS;
  }

  style(style: Style, text: string): string {
    return this.#colours ? paint(style, text) : text;
  }

  /** One line of the result. */
  print(line = ""): void {
    this.streams.stdout.write(`${line}\n`);
  }

  /** A document in JSON: indented for people, one line for programs. */
  printJson(value: unknown): void {
    this.print(JSON.stringify(value, null, this.streams.stdout.isTTY === true ? 2 : 0));
  }

  /** A remark that isn't part of the result. */
  note(line: string): void {
    this.streams.stderr.write(`${line}\n`);
  }

  noteStyled(style: Style, line: string): void {
    this.note(this.#errorColours ? paint(style, line) : line);
  }
}

function paint(style: Style, text: string): string {
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

function supportsColour({ env }: TerminalStreams, stream: Output): boolean {
  if (env["NO_COLOR"]) return false;
  const { FORCE_COLOR: forced } = env;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

function supportsUnicode({ env, platform }: TerminalStreams): boolean {
  if (env["TERM"] === "dumb" || env["TERM"] === "linux") return false;
  if (platform === "win32") return env["WT_SESSION"] !== undefined || env["TERM_PROGRAM"] === "vscode";
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return /utf-?8/i.test(locale);
}
