import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { openTarget } from "../targets/open-target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { type Column, showTable } from "../terminal/table.ts";
import { addInstanceActions } from "./instance-actions.ts";
import { addInstanceList } from "./instance-list.ts";
import { addInstanceCreate, addInstanceResult, addInstanceSend } from "./instance-requests.ts";
import { addInstanceHistory, addInstanceShow } from "./instance-show.ts";
import { type OutputFlags, show, withWatch } from "./output.ts";

type Counts = Readonly<Record<string, number>>;

interface Statistics {
  readonly instances?: { readonly total: Counts; readonly workflows: Readonly<Record<string, Counts>> };
}

interface Versions {
  readonly versions: readonly {
    readonly version: number | null;
    readonly unfinished: number;
    readonly registered: boolean;
  }[];
}

export function addWorkflows(program: Command, context: CommandContext): void {
  const workflows = program.command("workflows").summary("instances of workflows: list, show, steer");
  addCounts(workflows, context);
  addInstanceList(workflows, context);
  addInstanceShow(workflows, context);
  addInstanceHistory(workflows, context);
  addVersions(workflows, context);
  addInstanceCreate(workflows, context);
  addInstanceSend(workflows, context);
  addInstanceResult(workflows, context);
  addInstanceActions(workflows, context);
}

const STATUSES = ["queued", "running", "waiting", "paused", "errored", "terminated", "complete"];

function addCounts(parent: Command, context: CommandContext): void {
  const command = parent.command("counts").summary("counts the instances of each workflow by status");
  withTarget(withWatch(command)).action(async (flags: OutputFlags & TargetFlags) => {
    await using target = await openTarget(flags, context);
    const columns: readonly Column<[string, Counts]>[] = [
      { title: "WORKFLOW", of: ([name]) => name },
      ...STATUSES.map((status): Column<[string, Counts]> => {
        return { title: status.toUpperCase(), of: ([, counts]) => String(counts[status] ?? 0), right: true };
      }),
      { title: "TOTAL", of: ([, counts]) => String(counts["total"] ?? 0), right: true },
    ];
    await show(
      context,
      flags,
      async () => (await target.get<Statistics>(["stats"])).instances ?? { total: {}, workflows: {} },
      ({ workflows }) => {
        const rows = Object.entries(workflows);
        return rows.length === 0 ? "No workflows." : showTable(context.terminal, rows, columns);
      },
    );
  });
}

function addVersions(parent: Command, context: CommandContext): void {
  const command = parent
    .command("versions")
    .summary("lists the versions of a workflow that are in use")
    .argument("<workflow>");
  withTarget(withWatch(command)).action(async (workflow: string, flags: OutputFlags & TargetFlags) => {
    await using target = await openTarget(flags, context);
    await show(
      context,
      flags,
      () => target.get<Versions>(["workflows", workflow, "versions"]),
      ({ versions }) =>
        showTable(context.terminal, versions, [
          { title: "VERSION", of: ({ version }) => String(version ?? "none") },
          { title: "UNFINISHED", of: ({ unfinished }) => String(unfinished), right: true },
          { title: "IN CODE", of: ({ registered }) => (registered ? "yes" : "no") },
        ]),
    );
  });
}
