import { chmod, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TMPFS = 0x01021994;

/** A temporary directory that is removed when disposed of. */
export interface DiskDirectory extends AsyncDisposable {
  readonly path: string;
}

/** Makes a temporary directory on a disk: in memory an fsync costs nothing, and every figure would flatter. */
export async function createDiskDirectory(): Promise<DiskDirectory> {
  const parent = (await isInMemory(tmpdir())) ? "/var/tmp" : tmpdir();
  const path = await mkdtemp(join(parent, "perdure-bench-"));
  await chmod(path, 0o755); // PostgreSQL, started by root, runs as a user of its own
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

async function isInMemory(path: string): Promise<boolean> {
  return (await statfs(path)).type === TMPFS;
}
