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
  /** Ends the server and its connections: in good order, or as if it had crashed. It keeps its files. */
  shutDown(mode: "fast" | "immediate"): Promise<void>;
  /** Starts it again, where it was. */
  startAgain(): Promise<void>;
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
  const output = createInterface({ input: owner.stdout });
  const nextLine = async (): Promise<string> => {
    const [line] = (await Promise.race([once(output, "line"), exited.then(() => [])])) as [string?];
    if (line === undefined) throw new Error("PostgreSQL did not start; its output is above.");
    return line;
  };
  const command = async (text: string): Promise<void> => {
    const done = nextLine();
    owner.stdin.write(`${text}\n`);
    await done;
  };
  return {
    url: await nextLine(),
    shutDown: (mode) => command(`stop ${mode}`),
    startAgain: () => command("start"),
    async stop() {
      owner.stdin.end();
      await exited;
    },
  };
}
