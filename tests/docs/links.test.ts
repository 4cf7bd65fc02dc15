import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { DOCUMENTS, readDocument as read, root } from "./support/samples.ts";

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

/** Where a document's links to other files lead: path and anchor. A path that is empty is the document itself. */
function linksOf(document: string): [path: string, anchor: string | undefined][] {
  const targets = Array.from(readProse(document).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target as string);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor] = target.split("#");
      return [path, anchor];
    });
}

test("every link from one document to another leads to something that exists", () => {
  const broken: string[] = [];
  let links = 0;
  for (const document of DOCUMENTS) {
    for (const [path, anchor] of linksOf(document)) {
      links++;
      const file = path === "" ? document : join(dirname(document), path);
      const there = existsSync(join(root, file)) && (anchor === undefined || anchorsOf(file).includes(anchor));
      if (!there) broken.push(`${document}: ${path}#${anchor}`);
    }
  }
  expect(links).toBeGreaterThan(50);
  expect(broken).toEqual([]);
});

test("every document that is published links only to what is published", () => {
  const { files } = JSON.parse(read("package.json")) as { files: string[] };
  const published = ["README.md", "LICENSE", ...files]; // npm takes the first two by itself
  const isPublished = (file: string) => published.some((entry) => file === entry || file.startsWith(`${entry}/`));
  const lost = DOCUMENTS.filter(isPublished).flatMap((document) =>
    linksOf(document)
      .map(([path]) => (path === "" ? document : join(dirname(document), path)))
      .filter((file) => !isPublished(file))
      .map((file) => `${document}: ${file}`),
  );
  expect(DOCUMENTS.filter(isPublished).length).toBeGreaterThan(10);
  expect(lost).toEqual([]);
});

test("the indexes name every page and every example", () => {
  const index = read("docs/README.md");
  const internals = read("docs/internals/README.md");
  const inner = globSync("docs/internals/*.md", { cwd: root }).map((page) => page.slice("docs/internals/".length));
  expect(inner.filter((page) => page !== "README.md" && !internals.includes(`](${page})`))).toEqual([]);
  const pages = globSync("docs/*.md", { cwd: root }).map((page) => page.slice("docs/".length));
  const examples = globSync("examples/*.ts", { cwd: root });
  expect(pages.filter((page) => page !== "README.md" && !index.includes(`](${page})`))).toEqual([]);
  expect(examples.filter((example) => !index.includes(`](../${example})`))).toEqual([]);
});
