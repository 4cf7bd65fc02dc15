import type { Owner } from "../queue/owner.ts";

/** What is used of Node's own modules. They are asked for when they are needed, so that this can be bundled for runtimes without. */
interface BuiltinModules {
  "node:fs": { readFileSync(path: string, encoding: "utf8"): string; readlinkSync(path: string): string };
  "node:os": { hostname(): string };
}

/** Made when it is first needed: Cloudflare allows nothing random before the first event. */
let machine: string | undefined;
let incarnation: string | undefined;
let dispatchers = 0;

/**
 * This process as an owner of leases: `machine~pid~incarnation~dispatcher`. A process of the same machine whose pid is no more,
 * or is ours by now, has ended, so whoever starts next need not wait for its leases.
 */
export function createProcessOwner(): Owner {
  machine ??= machineName();
  incarnation ??= crypto.randomUUID().slice(-10);
  return { name: `${machine}~${globalThis.process?.pid ?? 0}~${incarnation}~${++dispatchers}`, isGone };
}

function isGone(name: string): boolean {
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

/** Where pids mean the same processes: this boot of this machine, and this container of it. Elsewhere nobody is known to be gone. */
function machineName(): string {
  const parts = [
    readOrEmpty(() => builtin("node:os").hostname()),
    readOrEmpty(() => builtin("node:fs").readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    readOrEmpty(() => builtin("node:fs").readlinkSync("/proc/self/ns/pid")),
  ];
  return parts.join("") === "" ? crypto.randomUUID().slice(-12) : hash(parts.join("\n"));
}

function builtin<Name extends keyof BuiltinModules>(name: Name): BuiltinModules[Name] {
  return process.getBuiltinModule(name) as BuiltinModules[Name];
}

/** FNV-1a, twice: it need not be secret, only different for different machines. */
function hash(text: string): string {
  const half = (seed: number) => {
    let value = seed;
    for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193);
    return (value >>> 0).toString(16).padStart(8, "0");
  };
  return half(0x811c9dc5) + half(0x1b873593);
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
