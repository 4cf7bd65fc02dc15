import type { Command } from "commander";
import { NotFoundError } from "../../errors.ts";
import type { CommandContext } from "../context.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { type Column, showFields, showTable } from "../terminal/table.ts";
import { showTime, showWhen } from "../terminal/times.ts";
import { type OutputFlags, show, withWatch } from "./output.ts";

/** A worker as the HTTP API gives it. */
export interface WireWorker {
  readonly id: string;
  readonly alive: boolean;
  readonly host: string;
  readonly pid: number | null;
  readonly version: string;
  readonly hooks: readonly string[];
  readonly workflows: readonly string[];
  readonly concurrency: { readonly hooks: number; readonly workflows: number };
  readonly startedAt: string;
  readonly lastSeenAt: string;
}

type Flags = OutputFlags & TargetFlags;

const COLUMNS: readonly Column<WireWorker>[] = [
  { title: "WORKER", of: ({ id }) => id },
  {
    title: "STATE",
    of: ({ alive }) => (alive ? "alive" : "dead"),
    style: ({ alive }) => (alive ? "green" : "red"),
  },
  { title: "HOST", of: ({ host }) => host, flexible: true },
  { title: "PID", of: ({ pid }) => String(pid ?? ""), right: true },
  { title: "VERSION", of: ({ version }) => version },
  { title: "STARTED", of: ({ startedAt }) => showWhen(startedAt) },
  { title: "SEEN", of: ({ lastSeenAt }) => showWhen(lastSeenAt) },
  { title: "RUNS", of: ({ hooks, workflows }) => [...workflows, ...hooks].join(" "), flexible: true },
];

export function addWorkers(program: Command, context: CommandContext): void {
  const workers = program.command("workers").summary("workers of all processes: list, show");
  withTarget(withWatch(workers.command("list").summary("lists workers"))).action(async (flags: Flags) => {
    await using target = await openTarget(flags, context);
    await show(
      context,
      flags,
      () => readWorkers(target),
      ({ workers: all }) =>
        all.length === 0
          ? "No workers: no process runs hooks or workflows."
          : showTable(context.terminal, all, COLUMNS),
    );
  });
  const one = workers.command("show").summary("shows a worker").argument("<id>");
  withTarget(withWatch(one)).action(async (id: string, flags: Flags) => {
    await using target = await openTarget(flags, context);
    await show(
      context,
      flags,
      () => findWorker(target, id),
      (worker) => drawWorker(context, worker),
    );
  });
}

export function readWorkers(target: Target): Promise<{ readonly workers: readonly WireWorker[] }> {
  return target.get(["workers"]);
}

async function findWorker(target: Target, id: string): Promise<WireWorker> {
  const found = (await readWorkers(target)).workers.find((worker) => worker.id === id);
  if (found !== undefined) return found;
  throw new NotFoundError("worker.not_found", `There is no worker "${id}": see perdure workers list.`);
}

function drawWorker({ terminal }: CommandContext, worker: WireWorker): string {
  const { alive, concurrency } = worker;
  return showFields(terminal, [
    ["worker", worker.id],
    ["state", alive ? "alive" : "dead", alive ? "green" : "red"],
    ["host", worker.host],
    ["pid", worker.pid === null ? null : String(worker.pid)],
    ["version", worker.version],
    ["started", showTime(worker.startedAt)],
    ["last seen", `${showTime(worker.lastSeenAt)} (${showWhen(worker.lastSeenAt)})`],
    ["concurrency", `${concurrency.hooks} hooks, ${concurrency.workflows} workflows`],
    ["hooks", worker.hooks.join("\n") || "none"],
    ["workflows", worker.workflows.join("\n") || "none"],
  ]);
}
