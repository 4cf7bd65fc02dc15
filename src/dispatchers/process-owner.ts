import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Owner } from "../queue/owner.ts";

const MACHINE = machineName();
const INCARNATION = randomBytes(5).toString("hex");
let dispatchers = 0;

/**
 * This process as an owner of leases: `machine~pid~incarnation~dispatcher`. A process of the same machine whose pid is no more,
 * or is ours by now, has ended, so whoever starts next need not wait for its leases.
 */
export function createProcessOwner(): Owner {
  return { name: `${MACHINE}~${process.pid}~${INCARNATION}~${++dispatchers}`, isGone };
}

function isGone(name: string): boolean {
  const [machine, pid, incarnation] = name.split("~");
  if (machine !== MACHINE || incarnation === INCARNATION || !/^\d+$/.test(pid ?? "")) return false;
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

/** Where pids mean the same processes: this boot of this machine, and this container of it. */
function machineName(): string {
  const parts = [
    hostname(),
    readOrEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    readOrEmpty(() => readlinkSync("/proc/self/ns/pid")),
  ];
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 12);
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
