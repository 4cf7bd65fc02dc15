import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { entryPoints, workerEntryPoints } from "../../scripts/entry-points.ts";
import { installPackage } from "../support/install-package.ts";

let directory: string;
let files: string[];

beforeAll(async () => {
  ({ directory } = await installPackage());
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
});

/** A file and those that it imports when it is loaded, and the names of what they import that isn't a file. */
function load(path: string): { readonly files: Set<string>; readonly modules: Set<string> } {
  const loaded = new Set([path]);
  const modules = new Set<string>();
  for (const file of loaded) {
    const text = readFileSync(join(directory, "dist", file), "utf8");
    for (const [, specifier = ""] of text.matchAll(/^(?:import|export)\b(?:[^"'\n]*\bfrom)? *"([^"]+)";$/gm)) {
      if (specifier.startsWith(".")) loaded.add(join(dirname(file), specifier));
      else modules.add(specifier);
    }
  }
  return { files: loaded, modules };
}

test("the package has few files, and none of its tests or sources", () => {
  expect(files.filter((file) => file.startsWith("dist/")).length).toBeLessThan(120);
  expect(files.length).toBeLessThan(200);
  expect(files.filter((file) => /(^|\/)(tests?|src|node_modules|images)\/|\.test\./.test(file))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE", "CHANGELOG.md", "examples/demo.ts"]));
});

test("each entry point has code with a source map, and types", () => {
  for (const { path } of [...entryPoints, ...workerEntryPoints]) {
    expect(files).toEqual(expect.arrayContaining([`dist/${path}.js`, `dist/${path}.d.ts`]));
  }
  const sources = files.filter((file) => file.endsWith(".js.map")).map((file) => join(directory, file));
  expect(sources.length).toBeGreaterThan(entryPoints.length);
  for (const path of sources) {
    const map = JSON.parse(readFileSync(path, "utf8")) as { sources: string[]; sourcesContent: (string | null)[] };
    expect(map.sourcesContent.filter((text) => !text)).toEqual([]);
    const ours = map.sources.filter((source) => !source.includes("@oxc-project")); // without the bundler's own helpers
    expect(ours.filter((source) => !/^(\.\.\/)+src\/.*\.ts$/.test(source))).toEqual([]);
  }
});

describe("the files that are loaded", () => {
  test("are few for `perdure`, and without an engine until a database is opened", () => {
    const { files, modules } = load("index.js");

    expect(files.size).toBeLessThan(12);
    expect([...modules].filter((module) => !module.startsWith("node:"))).toEqual(["croner"]);
    expect(modules).not.toContain("node:sqlite");
  });

  test.each(["everywhere", "durable-object/index", "dispatchers/cloudflare-do", "http/index", "client/index"])(
    "of %s import nothing of Node's",
    (path) => {
      const { modules } = load(`${path}.js`);

      expect([...modules].filter((module) => !["croner", "cloudflare:workers"].includes(module))).toEqual([]);
    },
  );

  test("of perdure/register are complete in themselves, as Node loads one of them in a thread of its own", () => {
    for (const name of ["register", "resolve-hook"]) expect(load(`cloudflare/${name}.js`).files.size).toBe(1);
  });
});

test("only perdure/register has side effects", () => {
  expect(manifest.sideEffects).toEqual(["./dist/cloudflare/register.js"]);
  expect(files).toContain("dist/cloudflare/register.js");
});
