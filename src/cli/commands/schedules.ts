import type { Command } from "commander";
import { NotFoundError } from "../../errors.ts";
import type { CommandContext } from "../context.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { type Column, showFields, showTable } from "../terminal/table.ts";
import { showTime, showWhen } from "../terminal/times.ts";
import { actOnAll } from "./action.ts";
import { parseReference, showReference } from "./instance-reference.ts";
import { type OutputFlags, show, withJson, withWatch } from "./output.ts";

/** A schedule as the HTTP API gives it. */
interface WireSchedule {
  readonly workflowName: string;
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly paused: boolean;
  readonly nextAt: string | null;
  readonly lastAt: string | null;
  readonly inCode: boolean;
}

type Flags = OutputFlags & TargetFlags;

const nameOf = ({ workflowName, name }: WireSchedule) => `${workflowName}/${name}`;

const COLUMNS: readonly Column<WireSchedule>[] = [
  { title: "SCHEDULE", of: nameOf },
  { title: "CRON", of: ({ cron }) => cron },
  { title: "TIME ZONE", of: ({ timezone }) => timezone },
  { title: "NEXT", of: ({ nextAt, paused }) => (paused ? "paused" : showWhen(nextAt)) },
  { title: "LAST", of: ({ lastAt }) => showWhen(lastAt) },
];

const ACTIONS = [
  { name: "pause", done: "paused", summary: "pauses schedules; times that pass meanwhile are skipped" },
  { name: "resume", done: "resumed", summary: "resumes schedules, with their next time from now" },
] as const;

export function addSchedules(program: Command, context: CommandContext): void {
  const schedules = program.command("schedules").summary("schedules of workflows: list, show, pause, resume, run");
  withTarget(withWatch(schedules.command("list").summary("lists schedules"))).action(async (flags: Flags) => {
    await using target = await openTarget(flags, context);
    await show(
      context,
      flags,
      () => readSchedules(target),
      ({ schedules: all }) => (all.length === 0 ? "No schedules." : showTable(context.terminal, all, COLUMNS)),
    );
  });
  const one = schedules.command("show").summary("shows a schedule").argument("<schedule>", "as workflow/name");
  withTarget(withWatch(one)).action(async (name: string, flags: Flags) => {
    await using target = await openTarget(flags, context);
    await show(
      context,
      flags,
      () => findSchedule(target, name),
      (schedule) => drawSchedule(context, schedule),
    );
  });
  for (const { name, done, summary } of ACTIONS) {
    const command = schedules.command(name).summary(summary).argument("<schedule...>", "as workflow/name");
    withTarget(withJson(command)).action(async (given: readonly string[], flags: Flags) => {
      const items = given.map(parseReference);
      await using target = await openTarget(flags, context);
      const act = ({ workflowName, id }: (typeof items)[number]) =>
        target.post<void>(["schedules", workflowName, id, name]);
      await actOnAll(context, { done, items, name: showReference, act, json: flags.json === true });
    });
  }
  addRun(schedules, context);
}

function addRun(parent: Command, context: CommandContext): void {
  const command = parent
    .command("run")
    .summary("creates an instance now, as the schedule would")
    .description("Creates an instance now, as the schedule would. It needs the code: --app, or --server.")
    .argument("<schedule>", "as workflow/name");
  withTarget(withJson(command)).action(async (name: string, flags: Flags) => {
    const { workflowName, id: schedule } = parseReference(name);
    await using target = await openTarget(flags, context);
    const created = await target.post<{ id: string; workflowName: string }>([
      "schedules",
      workflowName,
      schedule,
      "run",
    ]);
    if (flags.json) context.terminal.printJson(created);
    else context.terminal.print(showReference(created));
  });
}

function readSchedules(target: Target): Promise<{ readonly schedules: readonly WireSchedule[] }> {
  return target.get(["schedules"]);
}

async function findSchedule(target: Target, name: string): Promise<WireSchedule> {
  const { schedules } = await readSchedules(target);
  const found = schedules.find((schedule) => nameOf(schedule) === name);
  if (found !== undefined) return found;
  throw new NotFoundError("schedule.not_found", `There is no schedule ${name}.`);
}

function drawSchedule({ terminal }: CommandContext, schedule: WireSchedule): string {
  const { nextAt, lastAt } = schedule;
  return showFields(terminal, [
    ["schedule", nameOf(schedule)],
    ["cron", schedule.cron],
    ["time zone", schedule.timezone],
    ["paused", schedule.paused ? "yes" : "no"],
    ["next", nextAt && `${showTime(nextAt)} (${showWhen(nextAt)})`],
    ["last", lastAt && `${showTime(lastAt)} (${showWhen(lastAt)})`],
    ["in this code", schedule.inCode ? "yes" : "no"],
  ]);
}
