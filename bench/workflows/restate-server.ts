import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { createDiskDirectory } from "../harness/disk-directory.ts";
import { findFreePort } from "../harness/free-port.ts";

const START_MILLISECONDS = 30_000;
const PAUSE_MILLISECONDS = 50;

/** A Restate server of its own, with an empty store on disk. */
export interface RestateServer extends AsyncDisposable {
  /** Where calls go. */
  readonly ingress: string;
  /** Tells the server where the services are. */
  register(uri: string): Promise<void>;
}

/** As it comes, with fsync on, but for its number of partitions, and without telemetry. */
export async function startRestate(partitions: number): Promise<RestateServer> {
  const directory = await createDiskDirectory();
  const ports = { ingress: await findFreePort(), admin: await findFreePort(), node: await findFreePort() };
  const child = spawn(findProgram(), ["--no-logo", "--base-dir", directory.path], {
    stdio: "ignore",
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.node}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${ports.node}`,
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_DEFAULT_NUM_PARTITIONS: String(partitions),
      RESTATE_DISABLE_TELEMETRY: "true",
      DO_NOT_TRACK: "1",
    },
  });
  // Left running it would outlive a benchmark that is interrupted.
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async () => {
    await end(child);
    process.off("exit", kill);
    await directory[Symbol.asyncDispose]();
  };
  const admin = `http://127.0.0.1:${ports.admin}`;
  try {
    await succeeds(child, `${admin}/health`, {});
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ingress: `http://127.0.0.1:${ports.ingress}`,
    register: (uri) =>
      succeeds(child, `${admin}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uri }),
      }),
    [Symbol.asyncDispose]: stop,
  };
}

/** The server comes in a package per platform. */
function findProgram(): string {
  const require = createRequire(import.meta.url);
  return require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/** Asks until the server has started and agrees. */
async function succeeds(child: ChildProcess, url: string, request: RequestInit): Promise<void> {
  const deadline = performance.now() + START_MILLISECONDS;
  let problem = "it didn't answer";
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`restate-server ended with ${child.exitCode}`);
    try {
      const response = await fetch(url, request);
      const text = await response.text();
      if (response.ok) return;
      problem = `${response.status} ${text.slice(0, 200)}`;
    } catch {
      // not there yet
    }
    await sleep(PAUSE_MILLISECONDS);
  }
  throw new Error(`restate-server didn't start: ${problem}`);
}
