import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join, relative } from "node:path";

const CODE = /\.([mc]?[jt]s|json|env)$/;
const LEFT_OUT = /^(\.|node_modules$|dist$|coverage$)/;
const MOST_FOLDERS = 1000;
/** Editors write a file in several steps. */
const SETTLE_MS = 100;

/** Calls back when code in a directory changes. Packages, hidden folders and built files don't count. */
export class CodeWatch {
  readonly #directory: string;
  readonly #changed: (file: string) => void;
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(directory: string, changed: (file: string) => void) {
    this.#directory = directory;
    this.#changed = changed;
    this.#add(directory);
  }

  /** Whether there are more folders than it watches. */
  get incomplete(): boolean {
    return this.#watchers.length >= MOST_FOLDERS;
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  #add(folder: string): void {
    if (this.#watchers.length >= MOST_FOLDERS) return;
    const watcher = watch(folder, (_event, name) => {
      if (name !== null && CODE.test(name)) this.#tell(join(folder, name));
    });
    watcher.on("error", () => watcher.close()); // the folder was deleted
    this.#watchers.push(watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !LEFT_OUT.test(entry.name)) this.#add(join(folder, entry.name));
    }
  }

  #tell(file: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#changed(relative(this.#directory, file)), SETTLE_MS);
  }
}
