import { expect, test, vi } from "vitest";
import type { WorkerdContender } from "../../bench/workerd/contenders.ts";
import { runWorkerdSuite } from "../../bench/workerd/suite.ts";

function contender(name: string, role: WorkerdContender["role"], runMany: () => Promise<void>): WorkerdContender {
  return { name, role, open: async () => ({ runMany, [Symbol.asyncDispose]: async () => {} }) };
}

/** Runs the suite with contenders that do nothing, and gives all that it writes to the standard output. */
async function report(...contenders: WorkerdContender[]): Promise<{ valid: boolean; text: string }> {
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  try {
    const valid = await runWorkerdSuite(["--short", "--json"], contenders);
    return { valid, text: written.join("") };
  } finally {
    write.mockRestore();
  }
}

test("the benchmark of workerd with --json writes its results and nothing else", async () => {
  const { valid, text } = await report(
    contender("ours", "ours", async () => {}),
    contender("theirs", "peer", () => Promise.reject(new Error("no"))),
  );

  expect(valid).toBe(true);
  expect(JSON.parse(text)).toEqual({
    suite: "workerd",
    workflows: expect.any(Number),
    rounds: 1,
    results: [
      { name: "ours", role: "ours", unit: "workflows/s", median: expect.any(Number), rounds: [expect.any(Number)] },
      { name: "theirs", role: "peer", unit: "workflows/s", median: null, rounds: [] },
    ],
    versions: expect.objectContaining({ miniflare: expect.any(String) }),
    settings: expect.arrayContaining([expect.stringContaining("median of 1 rounds")]),
  });
});

test("the benchmark of workerd is invalid if ours fails", async () => {
  const { valid, text } = await report(contender("ours", "ours", () => Promise.reject(new Error("no"))));
  expect([valid, JSON.parse(text).results[0].median]).toEqual([false, null]);
});
