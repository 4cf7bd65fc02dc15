import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("embedded-postgres-process.ts", import.meta.url));

export interface EmbeddedPostgres {
  /** Connects as superuser to the database `postgres`. */
  readonly url: string;
  /** Ends the server and its connections, and deletes its files. */
  stop(): Promise<void>;
}

/**
 * Starts a real PostgreSQL on a free loopback port, in a temporary directory.
 *
 * It belongs to a process of its own that ends the server when its standard input closes, so the server is gone
 * after `stop()` and also when the test run is killed.
 */
export async function startEmbeddedPostgres(): Promise<EmbeddedPostgres> {
  // Detached, so that Ctrl+C in a terminal reaches it only through us.
  const owner = spawn(process.execPath, [program], { detached: true, stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(owner, "exit");
  const started = once(createInterface({ input: owner.stdout }), "line");
  const url = await Promise.race([started, exited.then(() => [])]).then(([line]) => line as string | undefined);
  if (url === undefined) {
    throw new Error("PostgreSQL did not start; its output is above.");
  }
  return {
    url,
    async stop() {
      owner.stdin.end();
      await exited;
    },
  };
}
