import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Something that a process did, recorded the moment it happened. */
export interface Entry {
  /** Milliseconds of the machine's monotonic clock, which all processes share. */
  readonly at: number;
  readonly process: string;
  readonly workload: string;
  readonly did: string;
  /** The item that it is about. */
  readonly item: string;
  readonly [detail: string]: unknown;
}

const EXTENSION = ".ledger";

export function ledgerPath(directory: string, process: string): string {
  return join(directory, process + EXTENSION);
}

/**
 * What a process did, line by line, in a file outside the database: the side effects that the accounts rely on. Each line is
 * written with one call before the process continues, so it survives the process.
 */
export class Ledger {
  readonly #file: number;
  readonly #process: string;

  constructor(path: string, process: string) {
    this.#file = openSync(path, "a");
    this.#process = process;
  }

  write(workload: string, did: string, item: string, details: Readonly<Record<string, unknown>> = {}): void {
    const entry: Entry = { at: monotonicNow(), process: this.#process, workload, did, item, ...details };
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}

/** The records of all processes, in the order of time. */
export function readLedgers(directory: string): Entry[] {
  const files = readdirSync(directory).filter((name) => name.endsWith(EXTENSION));
  const entries = files.flatMap((name) => parseLedger(readFileSync(join(directory, name), "utf8")));
  return entries.sort((one, other) => one.at - other.at);
}

/** A process that was killed while it wrote leaves half a line, which doesn't count. */
function parseLedger(text: string): Entry[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);
}

function monotonicNow(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
