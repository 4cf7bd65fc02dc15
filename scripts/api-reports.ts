/** Reports of what each entry point exports, as the built types have it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { type EntryPoint, entryPoints, root } from "./entry-points.ts";

/** The report on types that are part of others, although no entry point exports them. */
const UNEXPORTED = "not-exported";

/** The text of each report by the name of its file, for a package that was built in this directory. */
export function describePackage(directory: string): ReadonlyMap<string, string> {
  const pathOf = ({ path }: EntryPoint) => join(directory, `${path}.d.ts`);
  const program = ts.createProgram(entryPoints.map(pathOf), compilerOptions(directory));
  const api = new Api(program.getTypeChecker(), directory);
  for (const entryPoint of entryPoints) {
    const file = program.getSourceFile(pathOf(entryPoint));
    if (file === undefined) throw new Error(`${entryPoint.specifier} has no types in ${directory}.`);
    api.addEntryPoint(entryPoint.specifier, file);
  }
  return api.describe();
}

/** As a user's project has it; the libraries of the repository stand for those of the user. */
function compilerOptions(directory: string): ts.CompilerOptions {
  return {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    baseUrl: directory,
  };
}
