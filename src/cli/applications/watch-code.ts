import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join, relative, sep } from "node:path";

const CODE = /\.([mc]?[jt]s|json|env)$/;
const LEFT_OUT = /^(\.|node_modules$|dist$|coverage$)/;
const MOST_FOLDERS = 1000;
/** Editors write a file in several steps. */
const SETTLE_MS = 100;

/** Calls back when code in a directory changes. Packages, hidden folders and built files don't count. */
export class CodeWatch {
  readonly #directory: string;
  readonly #changed: (file: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(directory: string, changed: (file: string) => void) {
    this.#directory = directory;
    this.#changed = changed;
    this.#add(directory);
  }

  /** Whether there are more folders than it watches. */
  get incomplete(): boolean {
    return this.#watchers.size >= MOST_FOLDERS;
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #add(folder: string): void {
    if (this.#watchers.size >= MOST_FOLDERS) return;
    const watcher = watch(folder, (_event, name) => {
      if (name === null) return;
      const path = join(folder, name);
      if (CODE.test(name)) this.#tell(path);
      else if (!LEFT_OUT.test(name) && !this.#watchers.has(path) && isFolder(path)) this.#addNew(path);
    });
    watcher.on("error", () => this.#forget(folder)); // it was deleted
    this.#watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !LEFT_OUT.test(entry.name)) this.#add(join(folder, entry.name));
    }
  }

  /** What was written into it before it was watched hasn't been seen. */
  #addNew(folder: string): void {
    try {
      this.#add(folder);
      const inside = readdirSync(folder, { recursive: true, encoding: "utf8" });
      const code = inside.find((name) => CODE.test(name) && !name.split(sep).some((part) => LEFT_OUT.test(part)));
      if (code !== undefined) this.#tell(join(folder, code));
    } catch {
      this.#forget(folder); // it is gone again
    }
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #tell(file: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#changed(relative(this.#directory, file)), SETTLE_MS);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
