import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { usageError } from "../failures.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { type Column, showTable } from "../terminal/table.ts";
import type { Style } from "../terminal/terminal.ts";
import { showWhen } from "../terminal/times.ts";
import { type FilterFlags, type FilterQuery, toQuery, withFilter } from "./instance-filter.ts";
import { showReference } from "./instance-reference.ts";
import { type OutputFlags, show, withWatch } from "./output.ts";

/** An instance as the HTTP API gives it. */
export interface WireInstance {
  readonly id: string;
  readonly workflowName: string;
  readonly status: string;
  readonly run: number;
  readonly version?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly parent?: { readonly workflowName: string; readonly id: string };
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly stack?: string };
  readonly rollback?: { readonly outcome: string };
  readonly diverged?: { readonly message: string };
  readonly unreadable?: { readonly message: string };
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

interface Page {
  readonly instances: readonly WireInstance[];
  readonly cursor: string | null;
}

type ListFlags = TargetFlags &
  FilterFlags &
  OutputFlags & { readonly limit: string; readonly cursor?: string; readonly oldest?: boolean };

const STYLES: Readonly<Record<string, Style>> = {
  complete: "green",
  errored: "red",
  terminated: "yellow",
  paused: "yellow",
  running: "cyan",
};

export function styleOfStatus(status: string): Style | null {
  return STYLES[status] ?? null;
}

const COLUMNS: readonly Column<WireInstance>[] = [
  { title: "INSTANCE", of: showReference },
  { title: "STATUS", of: ({ status }) => status, style: ({ status }) => styleOfStatus(status) },
  { title: "RUN", of: ({ run }) => String(run), right: true },
  { title: "CREATED", of: ({ createdAt }) => showWhen(createdAt) },
  { title: "FINISHED", of: ({ finishedAt }) => showWhen(finishedAt) },
  { title: "ABOUT", of: describe, flexible: true },
];

function describe({ labels = {}, error, diverged, unreadable }: WireInstance): string {
  const problem = error === undefined ? (diverged ?? unreadable)?.message : `${error.name}: ${error.message}`;
  const shown = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [problem, ...shown].filter((part) => part !== undefined).join("  ");
}

/** One page of instances, of one workflow or of all. */
export function readPage(target: Target, workflow: string | undefined, query: FilterQuery): Promise<Page> {
  const path = workflow === undefined ? ["instances"] : ["workflows", workflow, "instances"];
  return target.get<Page>(path, query);
}

export function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw usageError("--limit must be a whole number from 1 to 1000.");
}

export function addInstanceList(parent: Command, context: CommandContext): void {
  const command = parent
    .command("list")
    .summary("lists instances")
    .description("Lists instances, the newest first.")
    .argument("[workflow]", "only of this workflow")
    .addOption(new Option("--limit <number>", "at most so many").default("50"))
    .option("--cursor <cursor>", "the next page")
    .option("--oldest", "the oldest first");
  withTarget(withWatch(withFilter(command))).action(async (workflow: string | undefined, flags: ListFlags) => {
    await using target = await openTarget(flags, context);
    const order = flags.oldest ? "oldest" : undefined;
    const query = { ...toQuery(flags), limit: String(parseLimit(flags.limit)), cursor: flags.cursor, order };
    await show(
      context,
      flags,
      () => readPage(target, workflow, query),
      (page) => drawPage(context, page),
    );
  });
}

function drawPage({ terminal }: CommandContext, { instances, cursor }: Page): string {
  if (instances.length === 0) return "No instances.";
  const more = cursor === null ? [] : [terminal.style("dim", `There are more: --cursor ${cursor}`)];
  return [showTable(terminal, instances, COLUMNS), ...more].join("\n");
}
