import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENTS = globSync(["*.md", "docs/*.md", "{bench,chaos,simulation}/README.md"], { cwd: root });

const read = (document: string) => readFileSync(join(root, document), "utf8");

/** Without its samples, where brackets mean something else. */
const readProse = (document: string) => read(document).replaceAll(/```[\s\S]*?```/g, "");

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): string[] {
  const headings = Array.from(readProse(document).matchAll(/^#+ (.*)$/gm), ([, text]) => text as string);
  return headings.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every link from one document to another leads to something that is there", () => {
  const broken: string[] = [];
  let links = 0;
  for (const document of DOCUMENTS) {
    for (const [, target = ""] of readProse(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links++;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? document : join(dirname(document), path);
      const there = existsSync(join(root, file)) && (anchor === undefined || anchorsOf(file).includes(anchor));
      if (!there) broken.push(`${document}: ${target}`);
    }
  }
  expect(links).toBeGreaterThan(50);
  expect(broken).toEqual([]);
});

test("docs/README.md names every page and every example", () => {
  const index = read("docs/README.md");
  const pages = globSync("docs/*.md", { cwd: root }).map((page) => page.slice("docs/".length));
  const examples = globSync("examples/*.ts", { cwd: root });
  expect(pages.filter((page) => page !== "README.md" && !index.includes(`](${page})`))).toEqual([]);
  expect(examples.filter((example) => !index.includes(`](../${example})`))).toEqual([]);
});
