import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { PAGE } from "../../scripts/entry-points.ts";

/** In bytes, compressed as servers and this one compress it. */
const BUDGET = 60_000;

const { files } = (await import(PAGE)) as { files: Readonly<Record<string, string>> };

test("the page's scripts are within their budget, those that come later included", () => {
  const scripts = Object.entries(files).filter(([name]) => name.endsWith(".js"));
  const bytes = scripts.reduce((sum, [, text]) => sum + gzipSync(text).length, 0);
  expect(scripts.length).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(BUDGET);
});

test("the page's files name no other host", () => {
  const text = Object.values(files).join("\n");
  const hosts = [...text.matchAll(/https?:\/\/([a-z0-9.-]+)/gi)].map(([, host]) => host);
  expect(hosts.filter((host) => host !== "www.w3.org")).toEqual([]); // the names of SVG and MathML
});
