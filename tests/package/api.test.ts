import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { beforeAll, expect, test } from "vitest";
import { reportApi } from "../../scripts/api-reports.ts";
import { entryPoints, root } from "../../scripts/entry-points.ts";
import { installPackage } from "../support/install-package.ts";

let types: string;
let program: ts.Program;

beforeAll(async () => {
  const { directory } = await installPackage();
  types = join(directory, "dist");
  const files = entryPoints.map(({ path }) => join(types, `${path}.d.ts`));
  program = ts.createProgram(files, { module: ts.ModuleKind.NodeNext, types: [] });
});

test("the reports in api/ say what each entry point exports: if that is to change, run npm run api", async () => {
  const reports = reportApi(types);
  const kept = globSync("api/*.api.md", { cwd: root });

  expect(kept.map((path) => basename(path, ".api.md")).sort()).toEqual([...reports.keys()].sort());
  for (const [name, text] of reports) {
    expect(text, `api/${name}.api.md`).toBe(await readFile(join(root, `api/${name}.api.md`), "utf8"));
  }
});

test("the types have nothing that is marked @internal", async () => {
  const files = globSync("**/*.d.ts", { cwd: types });
  expect(files.length).toBeGreaterThan(entryPoints.length);
  for (const file of files) {
    const text = await readFile(join(types, file), "utf8");
    expect(text, file).not.toMatch(/@internal|parseDispatching|class Store\b|interface Engine\b/);
  }
});

/** Cloudflare's modules aren't there on Node, and `perdure/register` changes the process that imports it. */
const LOADABLE = entryPoints.filter(({ path }) => !/^(durable-object\/index|cloudflare\/register)$/.test(path));

test.each(LOADABLE)("$specifier gives exactly the values that its types promise", async ({ path }) => {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(join(types, `${path}.d.ts`)) as ts.SourceFile;
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol);
  const promised = symbols.filter((symbol) => isValue(checker, symbol)).map(({ name }) => name);
  const given = Object.keys(await import(/* @vite-ignore */ pathToFileURL(join(types, `${path}.js`)).href));

  expect(given.sort()).toEqual(promised.sort());
});

function isValue(checker: ts.TypeChecker, symbol: ts.Symbol): boolean {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const typeOnly = (symbol.declarations ?? []).some(
    (declaration) =>
      ts.isExportSpecifier(declaration) && (declaration.isTypeOnly || declaration.parent.parent.isTypeOnly),
  );
  if (typeOnly) return false;
  const declared = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
  return (declared.flags & ts.SymbolFlags.Value) !== 0;
}
