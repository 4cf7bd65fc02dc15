import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Wakeups } from "../engine.ts";

const FIRST_LOOK_MS = 5;
const LONGEST_LOOK_MS = 2500;

type Listener = (namespaces: readonly string[] | null) => void;

/**
 * Other processes that use the same file announce their writes by writing: the operating system tells us that the write-ahead
 * log changed, and SQLite whether another connection wrote. The log changes before the commit is there for others to see, and
 * the disk may take its time in between, so we look again for a while.
 */
export class FileWakeups implements Wakeups {
  readonly #directory: string;
  readonly #logName: string;
  readonly #dataVersion: () => number;
  readonly #listeners = new Set<Listener>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextLookMs = FIRST_LOOK_MS;
  /** When the timer ends, by the monotonic clock. */
  #lookAt = 0;
  #seen: number | undefined;

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
      this.#seen = this.#readVersion();
      this.#watcher = watch(this.#directory, { persistent: false }, (_event, name) => {
        if (name !== this.#logName && name !== null) return;
        this.#lookSoon();
      });
      this.#watcher.on("error", () => this.#stop()); // polling continues without it
    } catch {
      this.#stop();
    }
  }

  /** A look that is still far off, because the last ones found nothing, must not keep this one waiting. */
  #lookSoon(): void {
    this.#nextLookMs = FIRST_LOOK_MS;
    if (this.#timer !== undefined && this.#lookAt > performance.now() + FIRST_LOOK_MS) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    this.#scheduleLook();
  }

  #scheduleLook(): void {
    if (this.#timer === undefined) {
      this.#lookAt = performance.now() + this.#nextLookMs;
      this.#timer = setTimeout(() => this.#look(), this.#nextLookMs);
    }
    this.#nextLookMs *= 2;
  }

  /**
   * Goes on for a while whatever it finds: the log may have been written for a commit that isn't there yet, after one that is.
   */
  #look(): void {
    this.#timer = undefined;
    if (this.#nextLookMs <= LONGEST_LOOK_MS) this.#scheduleLook();
    const version = this.#readVersion();
    if (version === this.#seen) return;
    this.#seen = version;
    for (const listener of this.#listeners) listener(null);
  }

  /** Undefined while another process keeps the database to itself, which is a reason to look. */
  #readVersion(): number | undefined {
    try {
      return this.#dataVersion();
    } catch {
      return undefined;
    }
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}

/** For a database that no other process can reach: there is nothing to announce, and nothing to miss. */
export const noWakeups: Wakeups & { close(): void } = {
  connected: true,
  subscribe: () => () => {},
  announce: () => {},
  close: () => {},
};
