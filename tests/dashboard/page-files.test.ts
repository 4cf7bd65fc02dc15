import { expect, test } from "vitest";
import { PAGE } from "../../scripts/entry-points.ts";

const { files } = (await import(PAGE)) as { files: Readonly<Record<string, string>> };

test("the page's files name no other host", () => {
  const text = Object.values(files).join("\n");
  const hosts = [...text.matchAll(/https?:\/\/([a-z0-9.-]+)/gi)].map(([, host]) => host);
  expect(hosts.filter((host) => host !== "www.w3.org")).toEqual([]); // the names of SVG and MathML
});
