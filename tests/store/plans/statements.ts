import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A statement of an engine, or the function that makes it. */
export interface SourceStatement {
  readonly name: string;
  /** The file that exports it. */
  readonly file: string;
  /** The end of its comment, which names the indexes that it uses. */
  readonly indexes: string | undefined;
  readonly source: string;
}

const EXPORT = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export (?:const|function) (\w+)/g;

/** SQL text begins with one of these; fragments such as lists of columns don't. */
const SQL = /[`"]\s*(\$\{WITH_\w+\}\s*)?(select|insert|update|delete|with) /;

/** All exports of an engine's SQL files whose text is a statement, or whose comment names an index. */
export function readStatements(engine: "sqlite" | "postgres"): SourceStatement[] {
  const folder = fileURLToPath(new URL(`../../../src/store/${engine}/sql`, import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file}`)
    .flatMap((file) => {
      const text = readFileSync(file, "utf8");
      return [...text.matchAll(EXPORT)].map(({ index, 0: match, 1: comment = "", 2: name = "" }) => ({
        name,
        file,
        indexes: /\bIndex(?:es)?: (.*)$/.exec(comment.replaceAll(/\s+\*?\s*/g, " "))?.[1],
        source: sourceOf(text, index + match.length),
      }));
    })
    .filter(({ indexes, source }) => indexes !== undefined || SQL.test(source));
}

/** Up to the next declaration. */
function sourceOf(text: string, start: number): string {
  const length = text.slice(start).search(/\n(?:\/\*\*|(?:export|const|function|interface|type) )/);
  return length < 0 ? text.slice(start) : text.slice(start, start + length);
}
