/** Reports on the API of the package, made from its bundled types: what users can import, and the types that it uses. */
import { join } from "node:path";
import ts from "typescript";
import { entryPoints, root, workerEntryPoints } from "./entry-points.ts";

/** The report on the declarations that those of the entry points refer to, and that none of them exports. */
const UNEXPORTED = "unexported";

const printer = ts.createPrinter({ removeComments: true });

/** The text of each report by its name, for the package in this directory. */
export function reportApi(directory: string): ReadonlyMap<string, string> {
  const pathOf = (path: string) => join(directory, `${path}.d.ts`);
  const all = [
    ...entryPoints.map((entryPoint) => ({ ...entryPoint, title: entryPoint.specifier })),
    ...workerEntryPoints.map((entryPoint) => ({ ...entryPoint, title: `${entryPoint.specifier} in a Worker` })),
  ];
  const program = ts.createProgram(
    all.map(({ path }) => pathOf(path)),
    { module: ts.ModuleKind.NodeNext, strict: true, types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
  );
  const declarations = new Declarations(program.getTypeChecker(), directory);
  const reports = new Map<string, string>();
  for (const { specifier, path, title } of all) {
    const file = program.getSourceFile(pathOf(path));
    if (file === undefined) throw new Error(`${specifier} has no types: ${pathOf(path)} is missing.`);
    reports.set(
      title.replaceAll(/[/ ]/g, "-").toLowerCase(),
      toReport(title, declarations.exportedBy(file, specifier)),
    );
  }
  reports.set(
    UNEXPORTED,
    toReport("Types that no entry point exports, and that others refer to", declarations.others()),
  );
  return reports;
}

function toReport(title: string, lines: readonly string[]): string {
  const text = lines.length === 0 ? "It exports nothing.\n" : `\`\`\`ts\n${lines.join("\n\n")}\n\`\`\`\n`;
  return `# ${title}\n\n${text}`;
}

/** The declarations of the package, each reported once. */
class Declarations {
  readonly #checker: ts.TypeChecker;
  readonly #directory: string;
  /** The entry point that exports a symbol, and the name that it has there. */
  readonly #exported = new Map<ts.Symbol, { readonly specifier: string; readonly name: string }>();

  constructor(checker: ts.TypeChecker, directory: string) {
    this.#checker = checker;
    this.#directory = directory;
  }

  /** In the order of their names. A declaration that an earlier entry point exports, too, is only named. */
  exportedBy(file: ts.SourceFile, specifier: string): string[] {
    const module = this.#checker.getSymbolAtLocation(file);
    const symbols = module === undefined ? [] : this.#checker.getExportsOfModule(module);
    return byName(symbols).map((symbol) => {
      const { name } = symbol;
      const declared = this.#resolve(symbol);
      const earlier = this.#exported.get(declared);
      if (earlier !== undefined) return `export { ${withAlias(earlier.name, name)} } from "${earlier.specifier}";`;
      this.#exported.set(declared, { specifier, name });
      const alias = declared.name === name ? "" : `export { ${withAlias(declared.name, name)} };\n`;
      return `${alias}${this.#print(declared)}`;
    });
  }

  /** Declarations that users see in the types of others, but can't import. */
  others(): string[] {
    const seen = new Set(this.#exported.keys());
    for (const symbol of seen) {
      for (const referred of this.#referredToBy(symbol)) seen.add(referred);
    }
    return byName([...seen].filter((symbol) => !this.#exported.has(symbol))).map((symbol) => this.#print(symbol));
  }

  #referredToBy(symbol: ts.Symbol): ts.Symbol[] {
    const found: ts.Symbol[] = [];
    const visit = (node: ts.Node): void => {
      const symbol = ts.isIdentifier(node) ? this.#checker.getSymbolAtLocation(node) : undefined;
      const declared = symbol && this.#resolve(symbol);
      if (declared !== undefined && this.#statementsOf(declared).length > 0) found.push(declared);
      ts.forEachChild(node, visit);
    };
    for (const statement of this.#statementsOf(symbol)) visit(statement);
    return found;
  }

  #print(symbol: ts.Symbol): string {
    const statements = this.#statementsOf(symbol);
    const [first] = statements;
    if (first === undefined) return `// ${symbol.name} is declared by another package.`;
    return statements
      .map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile()))
      .join("\n");
  }

  /** The statements at the top of our files that declare a symbol; none for members, parameters and other packages. */
  #statementsOf(symbol: ts.Symbol): ts.Statement[] {
    const statements = (symbol.declarations ?? []).flatMap((declaration) => {
      const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
      const ours = node.getSourceFile().fileName.startsWith(this.#directory);
      return ours && ts.isSourceFile(node.parent) && ts.isStatement(node) ? [node] : [];
    });
    return [...new Set(statements)];
  }

  #resolve(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }
}

function byName(symbols: readonly ts.Symbol[]): ts.Symbol[] {
  return symbols.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function withAlias(name: string, alias: string): string {
  return name === alias ? name : `${name} as ${alias}`;
}
