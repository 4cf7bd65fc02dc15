import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Wakeups } from "../engine.ts";

const SETTLE_MS = 5;

type Listener = (namespaces: readonly string[] | null) => void;

/**
 * Other processes that use the same file announce their writes by writing: the operating system tells us that the write-ahead
 * log changed, and SQLite whether it was somebody else.
 */
export class FileWakeups implements Wakeups {
  readonly #directory: string;
  readonly #logName: string;
  readonly #dataVersion: () => number;
  readonly #listeners = new Set<Listener>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #seen = 0;

  constructor(path: string, dataVersion: () => number) {
    const absolute = resolve(path);
    this.#directory = dirname(absolute);
    this.#logName = `${basename(absolute)}-wal`;
    this.#dataVersion = dataVersion;
  }

  get connected(): boolean {
    return this.#watcher !== undefined;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#open();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#stop();
    };
  }

  /** The write itself was the announcement. */
  announce(): void {}

  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  #open(): void {
    try {
      this.#seen = this.#dataVersion();
      this.#watcher = watch(this.#directory, { persistent: false }, (_event, name) => {
        if (name === this.#logName || name === null) this.#timer ??= setTimeout(() => this.#look(), SETTLE_MS);
      });
      this.#watcher.on("error", () => this.#stop()); // polling goes on without it
    } catch {
      this.#stop();
    }
  }

  #look(): void {
    this.#timer = undefined;
    const version = this.#dataVersion();
    if (version === this.#seen) return;
    this.#seen = version;
    for (const listener of this.#listeners) listener(null);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
