import { readdir, readFile } from "node:fs/promises";

const CLIENT_TICKS_PER_SECOND = 100;

/**
 * The CPU time in milliseconds that the server's processes for a database have used since they began. Null if the server isn't
 * on this machine, or the machine isn't Linux.
 */
export async function cpuOfBackends(databaseUrl: string): Promise<number | null> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const processes = (await readdir("/proc").catch(() => [])).filter((entry) => /^\d+$/.test(entry));
  const times = (await Promise.all(processes.map((id) => cpuOfBackend(id, name)))).filter((time) => time !== null);
  return times.length === 0 ? null : times.reduce((sum, time) => sum + time, 0);
}

/** PostgreSQL shows the database in the title of the process: `postgres: user database host(port) state`. */
async function cpuOfBackend(id: string, database: string): Promise<number | null> {
  try {
    const title = await readFile(`/proc/${id}/cmdline`, "utf8");
    if (!title.startsWith("postgres:") || !title.split(" ").includes(database)) return null;
    // The second field is the program's name, which may contain blanks.
    const fields = (await readFile(`/proc/${id}/stat`, "utf8")).split(") ").at(-1)?.split(" ") ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / CLIENT_TICKS_PER_SECOND;
  } catch {
    return null; // it has ended
  }
}
