import type { Terminal } from "./terminal.ts";

const WIDTH = 24;

/** How far a long operation has got. A terminal shows a bar; a log gets a line now and then. */
export class ProgressBar {
  readonly #terminal: Terminal;
  readonly #label: string;
  readonly #total: number;
  #done = 0;
  #told = 0;

  constructor(terminal: Terminal, label: string, total: number) {
    this.#terminal = terminal;
    this.#label = label;
    this.#total = total;
  }

  advance(count = 1): void {
    this.#done += count;
    const { stderr } = this.#terminal.streams;
    if (stderr.isTTY === true) stderr.write(`\r\u001b[K${this.#line()}`);
    else if (this.#percent() >= this.#told + 10) {
      this.#told = this.#percent();
      this.#terminal.note(this.#line());
    }
  }

  /** Leaves the last state behind. */
  end(): void {
    const { stderr } = this.#terminal.streams;
    if (stderr.isTTY === true && this.#done > 0) stderr.write("\n");
  }

  #percent(): number {
    return this.#total === 0 ? 100 : Math.min(100, Math.floor((this.#done / this.#total) * 100));
  }

  #line(): string {
    const filled = Math.round((this.#percent() / 100) * WIDTH);
    const { full, light } = this.#terminal.symbols;
    const bar = full.repeat(filled) + light.repeat(WIDTH - filled);
    return `${this.#label} ${bar} ${this.#done} of ${this.#total}`;
  }
}
