import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const HEADINGS = 6;

test("every promise in docs/promises.md names a test that exists", async () => {
  const text = await readFile(join(root, "docs/promises.md"), "utf8");
  const lines = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| ---"));
  const unproven = lines.filter((line) => !/\| .*`(tests|src)\/[^`]+\.test\.ts`[^|]*\|$/.test(line));
  const files = Array.from(text.matchAll(/`((?:tests|src)\/[^`]+\.ts)`/g), (match) => match[1] as string);

  expect(lines.length).toBeGreaterThan(25);
  expect(unproven).toHaveLength(HEADINGS);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
