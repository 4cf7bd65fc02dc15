import type { ChaosResult } from "./run-chaos.ts";
import type { Account, Problem } from "./workload.ts";

const MOST_PROBLEMS = 10;
const MOST_LINES = 40;

/** What happened, as text for people. */
export function describeResult({ accounts, faults, processes }: ChaosResult): string {
  const happened = [...faults].sort().map(([name, times]) => `${name} ${times}`);
  return [
    `${processes} processes. Faults: ${happened.join(", ")}.`,
    ...Object.entries(accounts).map(([name, account]) => `\n${describeTable(name, account)}`),
  ].join("\n");
}

export function problemsOf({ accounts, problems }: Pick<ChaosResult, "accounts" | "problems">): Problem[] {
  return [...problems, ...Object.values(accounts).flatMap((account) => account.problems)];
}

/** Each broken promise, with everything that is known about its items. */
export function describeProblems(result: Pick<ChaosResult, "accounts" | "problems" | "entries">): string {
  const problems = problemsOf(result);
  const shown = problems.slice(0, MOST_PROBLEMS).map(({ promise, details, items }) => {
    const story = result.entries.filter(({ item }) => items.includes(item)).slice(0, MOST_LINES);
    const lines = story.map(({ at, process, did, item, workload: _workload, ...others }) => {
      const details = Object.keys(others).length > 0 ? ` ${JSON.stringify(others)}` : "";
      return `    ${(at / 1000).toFixed(3)} s  ${process}: ${did} ${item}${details}`;
    });
    return [`Broken: ${promise}.`, `  ${details}.`, ...lines].join("\n");
  });
  const more = problems.length - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more.`] : [])].join("\n\n");
}

export function describeTable(name: string, { table }: Account): string {
  const lines = Object.entries(table);
  const columns = Object.keys(lines[0]?.[1] ?? {});
  const total = Object.fromEntries(
    columns.map((column) => [column, lines.reduce((sum, [, line]) => sum + (line[column] ?? 0), 0)]),
  );
  const cells = [
    [name, ...columns],
    ...[...lines, ["in all", total] as const].map(([kind, line]) => [kind, ...columns.map((c) => String(line[c]))]),
  ];
  const widths = cells[0]?.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0))) ?? [];
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  const text = cells.map((row) =>
    row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join("  "),
  );
  return [text[0], rule, ...text.slice(1, -1), rule, text.at(-1)].join("\n");
}
