import { InvalidInputError } from "../errors.ts";
import { timeOfDate } from "../values/index.ts";
import type { Dialect } from "./dialect.ts";
import type { SqlValue } from "./sql-value.ts";

/** The engine's own SQL for a tagged template: each value becomes a parameter, never text. */
export function buildSql(
  dialect: Dialect,
  parts: TemplateStringsArray,
  values: readonly unknown[],
): { text: string; parameters: SqlValue[] } {
  if (!Array.isArray(parts) || !Array.isArray(parts.raw)) {
    throw new InvalidInputError(
      "sql.invalid",
      "sql is a tagged template: uow.sql`select …`. For a text use uow.query(text, parameters).",
    );
  }
  let text = parts[0] as string;
  for (let index = 1; index < parts.length; index++) {
    text += (dialect === "postgres" ? `$${index}` : "?") + parts[index];
  }
  return { text, parameters: checkParameters(values) };
}

export function checkText(text: unknown): string {
  if (typeof text === "string" && text.trim() !== "") return text;
  throw new InvalidInputError("sql.invalid", "query takes a text of SQL, and parameters: uow.query(text, parameters).");
}

export function checkParameters(values: unknown): SqlValue[] {
  if (!Array.isArray(values)) {
    throw new InvalidInputError("sql.parameter_invalid", "The parameters of a query must be an array.");
  }
  return Array.from(values, (value: unknown, index) => {
    const time = timeOfDate(value);
    if (time !== undefined && !Number.isNaN(time)) return new Date(time);
    if (isSqlValue(value)) return value;
    throw new InvalidInputError(
      "sql.parameter_invalid",
      `Parameter ${index + 1} can't be given to a database: it must be a text, a number, a bigint, a boolean, a Date, bytes or null. ` +
        "For JSON give JSON.stringify(value).",
    );
  });
}

function isSqlValue(value: unknown): value is SqlValue {
  if (value === null || isBytes(value)) return true;
  return ["string", "number", "bigint", "boolean"].includes(typeof value);
}

/** Also bytes of another realm, such as a Buffer in jest. */
function isBytes(value: unknown): boolean {
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
}
