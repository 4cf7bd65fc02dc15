import { hashText } from "../hash.ts";
import type { Owner } from "../queue/owner.ts";

/**
 * The parts of Node's own modules that are used here. They are loaded on first use, so that other runtimes can bundle this
 * file.
 */
interface BuiltinModules {
  "node:fs": { readFileSync(path: string, encoding: "utf8"): string; readlinkSync(path: string): string };
  "node:os": { hostname(): string };
}

/** Made on first use: Cloudflare allows no random values before the first event. */
let machine: string | undefined;
let incarnation: string | undefined;
let dispatchers = 0;

/**
 * This process as an owner of leases: `machine~pid~incarnation~dispatcher`. A process of the same machine has ended if its pid
 * is unused, or is the pid of this process; its leases can be freed at once.
 */
export function createProcessOwner(): Owner {
  machine ??= machineName();
  incarnation ??= crypto.randomUUID().slice(-10);
  const { pid = 0 } = globalThis.process ?? {};
  const host = readOrEmpty(() => builtin("node:os").hostname()) || "unknown";
  return { name: `${machine}~${pid}~${incarnation}~${++dispatchers}`, host, pid, isGone };
}

/** Whether the process of an owner has ended: known only of processes of this machine. */
export function isGone(name: string): boolean {
  machine ??= machineName();
  const [itsMachine, pid, itsIncarnation] = name.split("~");
  if (itsMachine !== machine || itsIncarnation === incarnation || !/^\d+$/.test(pid ?? "")) return false;
  return Number(pid) === process.pid || !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/**
 * The scope in which a pid names one process: one boot of a machine, and one container on it. Owners of other scopes are never
 * assumed gone.
 */
function machineName(): string {
  const parts = [
    readOrEmpty(() => builtin("node:os").hostname()),
    readOrEmpty(() => builtin("node:fs").readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    readOrEmpty(() => builtin("node:fs").readlinkSync("/proc/self/ns/pid")),
  ];
  return parts.join("") === "" ? crypto.randomUUID().slice(-12) : hashText(parts.join("\n"));
}

function builtin<Name extends keyof BuiltinModules>(name: Name): BuiltinModules[Name] {
  return process.getBuiltinModule(name) as BuiltinModules[Name];
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
