const NAME = "[\\p{ID_Start}$_][\\p{ID_Continue}$]*";
/** `export type Env = …`, `export interface Env`, `export default interface Env`. */
const TYPE = new RegExp(`^export\\s+(default\\s+)?(?:declare\\s+)?(?:type|interface)\\s+(${NAME})`, "gmu");
/** `export const Env`, `export abstract class Env`, `export async function* env`, `export const enum Env`. */
const VALUE = new RegExp(
  `^export\\s+(?:(?:abstract|async|const|declare)\\s+)*(?:const|let|var|function|class|enum|namespace)\\b[\\s*]+(${NAME})`,
  "gmu",
);
/** `export type { Env }` and `export { type Env }`, from another file or not. */
const LIST = /^export\s+(type\s*)?\{([^}]*)\}/gmu;

/**
 * Code to append to a file: it exports the file's types as values without any content, for files that import them like values.
 * A type is left alone if a value is exported under its name, too.
 */
export function typeExportsOf(source: string): string {
  const listed = listsOf(source);
  const declared = Array.from(source.matchAll(TYPE), ([, asDefault, name]) => (asDefault ? "default" : name));
  const values = new Set([...Array.from(source.matchAll(VALUE), ([, name]) => name), ...listed.values]);
  const types = [...new Set([...declared, ...listed.types])].filter((name) => !values.has(name));
  if (types.length === 0) return "";
  return `\nconst __perdureType = undefined; export { ${types.map((name) => `__perdureType as ${name}`).join(", ")} };\n`;
}

/** The names by which other files know what is exported in lists. */
function listsOf(source: string): { readonly types: string[]; readonly values: string[] } {
  const found: ReturnType<typeof listsOf> = { types: [], values: [] };
  for (const [, allTypes, list = ""] of source.matchAll(LIST)) {
    for (const item of list.split(",")) {
      const words = item.trim().split(/\s+/);
      const name = words.at(-1);
      if (name) found[allTypes || isType(words) ? "types" : "values"].push(name);
    }
  }
  return found;
}

/** `type Env`, `type Env as Other`; but `type as Other` is a value of the name `type`. */
function isType([first, second]: readonly string[]): boolean {
  return first === "type" && second !== undefined && second !== "as";
}
