import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestEngine, TestStore } from "./engines.ts";

interface Stoppable {
  stop(): Promise<void>;
}

interface Killable {
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<unknown>;
}

/** A database, an application in the test's own process, and worker processes. All of it is gone after `dispose`. */
export abstract class SharedDatabase<App extends Stoppable, Worker extends Killable> {
  protected readonly workers: Worker[] = [];
  #database: TestStore | undefined;
  #location = "";
  #app: App | undefined;
  #directory: string | undefined;

  protected abstract openApp(location: string): Promise<App>;

  /** A migrated database of this engine, and the test's own application. */
  async open(engine: TestEngine): Promise<void> {
    this.#database = await engine.create();
    await this.openAt(this.#database.location);
  }

  /** The same with a database that the test looks after. */
  async openAt(location: string): Promise<void> {
    this.#location = location;
    await this.connect();
  }

  /** A database without any tables, on SQLite not even a file, that no process has opened yet; then `connect`. */
  async openEmpty(engine: TestEngine): Promise<void> {
    if (engine.dialect === "sqlite") {
      this.#location = join(this.directory, "empty.db");
    } else {
      this.#database = await engine.createEmpty();
      this.#location = this.#database.location;
    }
  }

  async connect(): Promise<void> {
    this.#app = await this.openApp(this.#location);
  }

  get location(): string {
    return this.#location;
  }

  /** A directory for files of the test. */
  get directory(): string {
    this.#directory ??= mkdtempSync(join(tmpdir(), "perdure-processes-"));
    return this.#directory;
  }

  get app(): App {
    if (this.#app === undefined) throw new Error("Open a database first.");
    return this.#app;
  }

  async dispose(): Promise<void> {
    for (const worker of this.workers) worker.kill("SIGKILL");
    await Promise.all(this.workers.splice(0).map((worker) => worker.ended));
    await this.#app?.stop();
    this.#app = undefined;
    await this.#database?.dispose();
    this.#database = undefined;
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }
}
