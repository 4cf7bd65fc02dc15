import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FileWakeups } from "../../src/store/sqlite/wakeups.ts";
import { waitUntil } from "../support/wait-until.ts";

let directory = "";
let wakeups: FileWakeups | undefined;
let told = 0;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "perdure-wakeups-"));
  told = 0;
});

afterEach(() => {
  vi.useRealTimers();
  wakeups?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A watch over a database whose versions are these, one for each look, the last for ever. */
function watchVersions(...versions: readonly (number | Error)[]): { looks: number } {
  const seen = { looks: 0 };
  wakeups = new FileWakeups(join(directory, "test.db"), () => {
    const version = versions[Math.min(seen.looks++, versions.length - 1)];
    if (typeof version === "number") return version;
    throw version;
  });
  wakeups.subscribe(() => {
    told++;
  });
  return seen;
}

function writeLog(): void {
  appendFileSync(join(directory, "test.db-wal"), "frame");
}

test("a commit of another process is noticed", async () => {
  watchVersions(1, 2);
  writeLog();

  await waitUntil("the commit was told", () => told > 0);
});

test("a commit that takes longer than the write to its log isn't missed", async () => {
  watchVersions(1, 1, 1, 1, 1, 2);
  writeLog();

  await waitUntil("the commit was told", () => told > 0);
});

test("a database that can't be asked just then is a reason to look", async () => {
  watchVersions(1, new Error("database is locked"));
  writeLog();

  await waitUntil("the change was told", () => told > 0);
});

test("a process's own writes wake no process, and the watcher stops looking", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const seen = watchVersions(1);
  writeLog();
  await waitUntil("the write was noticed", () => vi.getTimerCount() > 0);
  vi.runAllTimers(); // throws if there is no end to it

  expect(seen.looks).toBeGreaterThan(2);
  expect(told).toBe(0);
});

test("a commit is noticed soon, though earlier looks found nothing and the next was far off", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  using delays = watchDelays();
  let version = 1;
  wakeups = new FileWakeups(join(directory, "test.db"), () => version);
  wakeups.subscribe(() => {
    told++;
  });
  writeLog();
  await waitUntil("the write was noticed", () => vi.getTimerCount() > 0);
  while ((delays.all.at(-1) ?? 0) < 1000) vi.advanceTimersToNextTimer();
  version = 2;
  writeLog();
  await waitUntil("a look is near", () => delays.all.at(-1) === 5);
  vi.advanceTimersByTime(5);

  expect(told).toBe(1);
});

test("a commit that follows another while that is handled isn't missed", async () => {
  watchVersions(1, 2, 2, 3);
  writeLog();

  await waitUntil("both commits were told", () => told === 2);
});

/**
 * The delays of timers from now on. A spy would do, but whichever file restores all mocks next would bring the faked function
 * back that it had replaced.
 */
function watchDelays() {
  const all: number[] = [];
  const set = globalThis.setTimeout;
  const watched = (callback: () => void, milliseconds = 0) => {
    all.push(milliseconds);
    return set(callback, milliseconds);
  };
  globalThis.setTimeout = watched as typeof setTimeout;
  const restore = () => {
    globalThis.setTimeout = set;
  };
  return { all, [Symbol.dispose]: restore };
}
