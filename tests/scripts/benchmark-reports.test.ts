import { readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { bytesAllocated } from "../../bench/harness/allocations.ts";
import { createDiskDirectory } from "../../bench/harness/disk-directory.ts";
import { publish, type Report } from "../../bench/harness/report/publish.ts";

const REPORT: Report = {
  suite: "hooks",
  results: [
    {
      work: "drain",
      engine: "postgres",
      ours: 200,
      peers: { "a <peer>": 100, broken: null },
      floor: 400,
      spreads: { ours: [150, 250], floor: [400, 400] },
      unit: "hooks/s",
      better: "higher",
    },
    { work: "alone", engine: "sqlite", ours: 2, peers: {}, unit: "ms", better: "lower" },
  ],
  versions: { "a-peer": "1.2.3" },
  settings: ["a-peer: defaults"],
  failures: [],
};

/** Publishes the report, and gives what it writes to the standard output. */
async function printed(json: boolean, chart?: string): Promise<string> {
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  try {
    await publish(REPORT, { json, chart });
  } finally {
    write.mockRestore();
  }
  return written.join("");
}

test("a benchmark's report for people has spreads, both ratios, versions and settings", async () => {
  const text = await printed(false);
  expect(text).toContain("200  (150 to 250)");
  expect(text).toMatch(/ours ÷ best peer +2\.00 {2}ahead/);
  expect(text).toMatch(/ours ÷ floor +0\.50 {2}behind/);
  expect(text).toMatch(/broken +failed/);
  expect(text).toContain("a-peer 1.2.3");
  expect(text).toContain("a-peer: defaults");
});

test("a benchmark's report names neither peers nor a floor where there are none", async () => {
  const [, alone = ""] = (await printed(false)).split("\n\n");
  expect(alone.split("\n")).toEqual([
    "alone, sqlite (ms, lower is better)",
    expect.stringMatching(/^ {2}ours +2\.00$/),
  ]);
});

test("a benchmark's report for programs has versions, settings and spreads, and leaves out what failed", async () => {
  expect(JSON.parse(await printed(true))).toMatchObject({
    suite: "hooks",
    results: [
      { ours: 200, peers: { "a <peer>": 100 }, floor: 400, spreads: { ours: [150, 250] } },
      { ours: 2, peers: {}, floor: null },
    ],
    versions: { "a-peer": "1.2.3" },
    settings: ["a-peer: defaults"],
  });
  expect(JSON.parse(await printed(true)).results[0].peers).not.toHaveProperty("broken");
});

test("a benchmark's chart has a bar per figure, in proportion, with its spread", async () => {
  await using directory = await createDiskDirectory();
  const file = `${directory.path}/chart.svg`;
  await printed(true, file);
  const svg = await readFile(file, "utf8");
  const widths = Array.from(svg.matchAll(/<rect x="\d+" y="\d+" width="([\d.]+)"/g), ([, width]) => Number(width));
  expect(widths).toHaveLength(4);
  const [ours = 0, peer, floor, alone] = widths;
  expect([peer, floor, alone]).toEqual([ours / 2, ours * 2, ours * 2]);
  expect(svg.match(/class="spread"/g)).toHaveLength(1);
  expect(svg).toContain("a &lt;peer&gt;");
  expect(svg).toContain(">failed</text>");
});

test("the benchmark counts the bytes that were allocated, also those that were collected", async () => {
  const kept: number[][] = [[]];
  const bytes = await bytesAllocated(async () => {
    for (let index = 0; index < 500_000; index++) kept[0] = new Array(100).fill(index);
  });
  expect(bytes / 500_000).toBeGreaterThan(800);
  expect(bytes / 500_000).toBeLessThan(1000);
});
