const WIDTH = 40;

/** A line that grows on a terminal, and a few lines elsewhere. */
export class ProgressBar {
  readonly #total: number;
  readonly #terminal: boolean = process.stderr.isTTY === true;
  #done = 0;
  #shown = -1;

  constructor(total: number) {
    this.#total = total;
  }

  advance(): void {
    this.#done++;
    const share = this.#done / this.#total;
    const shown = Math.floor(share * (this.#terminal ? WIDTH * 5 : 10));
    if (shown === this.#shown) return;
    this.#shown = shown;
    const filled = Math.round(share * WIDTH);
    const line = `[${"#".repeat(filled)}${".".repeat(WIDTH - filled)}] ${this.#done}/${this.#total}`;
    process.stderr.write(this.#terminal ? `\r${line}` : `${line}\n`);
  }

  end(): void {
    if (this.#terminal) process.stderr.write("\n");
  }
}
