import { cutTo, safeText, widthOf } from "./safe-text.ts";
import type { Style, Terminal } from "./terminal.ts";

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string;
  readonly style?: (row: Row) => Style | null;
  /** Whether it may be cut where the terminal is too narrow. Ids must stay whole, so that they can be copied. */
  readonly flexible?: boolean;
  readonly right?: boolean;
}

const GAP = "  ";
const LEAST_FLEXIBLE = 12;

/** Rows under titles. On a terminal, flexible columns are cut to its width; in a pipe, nothing is cut. */
export function showTable<Row>(terminal: Terminal, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map(({ of }) => safeText(of(row))));
  const natural = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[index] as string))),
  );
  const widths = terminal.live ? narrow(natural, columns, terminal.columns) : natural;
  const draw = (line: readonly string[], styleOf: (index: number) => Style | null) =>
    line
      .map((text, index) => {
        const width = widths[index] as number;
        const shown = cutTo(text, width, terminal.symbols.cut);
        const space = " ".repeat(width - widthOf(shown));
        const style = styleOf(index);
        const styled = style === null ? shown : terminal.style(style, shown);
        if (columns[index]?.right) return space + styled;
        return index === line.length - 1 ? styled : styled + space;
      })
      .join(GAP)
      .trimEnd();
  const header = draw(
    columns.map(({ title }) => title),
    () => "dim",
  );
  const lines = rows.map((row, number) =>
    draw(cells[number] as string[], (index) => columns[index]?.style?.(row) ?? null),
  );
  return [header, ...lines].join("\n");
}

function narrow<Row>(natural: readonly number[], columns: readonly Column<Row>[], available: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
  for (let over = total() - available; over > 0; over = total() - available) {
    const [widest] = columns
      .map((column, index) => ({ index, width: widths[index] as number, flexible: column.flexible === true }))
      .filter(({ flexible, width }) => flexible && width > LEAST_FLEXIBLE)
      .sort((one, other) => other.width - one.width);
    if (widest === undefined) break;
    widths[widest.index] = Math.max(LEAST_FLEXIBLE, widest.width - over);
  }
  return widths;
}

export type Field = readonly [name: string, value: string | null | undefined, style?: Style | null];

/** Names with their values, one in a line. Values of several lines are indented. */
export function showFields(terminal: Terminal, fields: readonly Field[]): string {
  const given = fields.filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(...given.map(([name]) => name.length)) + 2;
  return given
    .map(([name, value, style]) => {
      const lines = (value as string).split("\n").map(safeText);
      const [first = "", ...rest] = style ? lines.map((line) => terminal.style(style, line)) : lines;
      const label = terminal.style("dim", `${name}:`.padEnd(width));
      return [label + first, ...rest.map((line) => " ".repeat(width) + line)].join("\n");
    })
    .join("\n");
}
