import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { Terminal } from "../../src/cli/terminal/terminal.ts";
import { drawWaterfall, type Span } from "../../src/cli/terminal/waterfall.ts";

const DAY_MS = 86_400_000;
const stdout = Object.assign(new PassThrough(), { columns: 60 });
const terminal = new Terminal({ stdin: new PassThrough(), stdout, stderr: stdout, env: {}, platform: "linux" });
const span = (label: string, from: number, to: number | null, waits = false): Span => {
  return { label, from, to, waits, state: to === null ? "open" : waits ? "waited" : "done", note: "" };
};

describe("the waterfall in a terminal", () => {
  test("shows milliseconds of work beside days of sleep, and says that it isn't true to scale", () => {
    const rows = drawWaterfall(
      terminal,
      [
        span("one", 0, 100),
        span("two", 100, 300),
        span("night", 300, 2 * DAY_MS, true),
        span("three", 2 * DAY_MS, 2 * DAY_MS + 300),
      ],
      3 * DAY_MS,
    ).split("\n");

    const lengths = rows.slice(0, 4).map((row) => /[#-]+/.exec(row)?.[0].length ?? 0);
    const [one = 0, two = 0, night = 0, three = 0] = lengths;
    expect(one).toBeGreaterThan(3);
    expect(two).toBeGreaterThan(one);
    expect(night).toBeLessThan(two);
    expect(night).toBeGreaterThan(1);
    expect(three).toBeGreaterThan(two);
    expect(rows[2]).toContain("1 d 23 h");
    expect(rows[4]).toBe("Time in which nothing runs is shown short.");
  });

  test("is true to scale where something always runs, and fits in the terminal", () => {
    const rows = drawWaterfall(terminal, [span("a", 0, DAY_MS), span("b", DAY_MS, null)], 2 * DAY_MS).split("\n");

    expect(rows.length).toBe(2);
    const [a = "", b = ""] = rows.map((row) => /[#-]+/.exec(row)?.[0]);
    expect(Math.abs(a.length - b.length)).toBeLessThan(3);
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(60);
  });

  test("shows an instance that only waits", () => {
    const row = drawWaterfall(terminal, [span("approval", 0, null, true)], DAY_MS).split("\n")[0];

    expect(row).toMatch(/^approval {2}-{30,}$/);
  });
});
