import { stripVTControlCharacters } from "node:util";
import { widthOf } from "./safe-text.ts";
import type { Terminal } from "./terminal.ts";

const USUAL_ROWS = 24;
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/** What a command shows again and again in the same place. What was on the terminal before is scrolled up, and stays. */
export class Screen {
  readonly #terminal: Terminal;
  #begun = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Shows as many lines as the terminal has room for: what scrolls away couldn't be written over. */
  paint(text: string): void {
    const { stdout } = this.#terminal.streams;
    const rows = stdout.rows || USUAL_ROWS;
    const up = this.#begun ? "" : "\n".repeat(rows - 1);
    this.#begun = true;
    const lines = this.#fit(text.split("\n"), rows - 1);
    stdout.write(`${up}${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join("")}${CLEAR_BELOW}`);
  }

  #fit(lines: readonly string[], room: number): readonly string[] {
    const heights = lines.map((line) => this.#heightOf(line));
    if (sum(heights) <= room) return lines;
    const count = heights.findIndex((_, index) => sum(heights.slice(0, index + 1)) > room - 1);
    const { cut } = this.#terminal.symbols;
    return [...lines.slice(0, count), this.#terminal.style("dim", `${cut} ${lines.length - count} more lines`)];
  }

  #heightOf(line: string): number {
    return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / this.#terminal.columns));
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
