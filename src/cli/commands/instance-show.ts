import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { toSpans } from "../histories/spans.ts";
import { readEntries, type WireEntry } from "../histories/wire-history.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { type Column, showFields, showTable } from "../terminal/table.ts";
import { showTime, showTimesIn, showWhen } from "../terminal/times.ts";
import { drawWaterfall } from "../terminal/waterfall.ts";
import type { WireExplanation } from "./explain.ts";
import { styleOfStatus, type WireInstance } from "./instance-list.ts";
import { type InstanceReference, parseReference, pathOf, showReference } from "./instance-reference.ts";
import { type OutputFlags, show, withWatch } from "./output.ts";
import { showValue } from "./values.ts";

interface Detail {
  readonly instance: WireInstance;
  readonly explanation: WireExplanation | null;
  readonly run: number;
  readonly entries: readonly WireEntry[];
}

export function addInstanceShow(parent: Command, context: CommandContext): void {
  const command = parent
    .command("show")
    .summary("shows an instance, with its steps as a waterfall")
    .argument("<instance>", "as workflow/id")
    .option("--run <number>", "the steps of this run");
  withTarget(withWatch(command)).action(async (text: string, flags: OutputFlags & TargetFlags & { run?: string }) => {
    const reference = parseReference(text);
    await using target = await openTarget(flags, context);
    const run = flags.run === undefined ? undefined : Number(flags.run);
    await show(
      context,
      flags,
      () => readDetail(target, reference, run),
      (detail) => draw(context, detail),
    );
  });
}

async function readDetail(target: Target, reference: InstanceReference, run: number | undefined): Promise<Detail> {
  const instance = await target.get<WireInstance>(pathOf(reference));
  const unfinished = instance.finishedAt === null;
  const [explanation, history] = await Promise.all([
    unfinished ? target.get<WireExplanation>(pathOf(reference, "explain")) : null,
    readEntries(target, reference, run),
  ]);
  return { instance, explanation, ...history };
}

function draw({ terminal }: CommandContext, { instance, explanation, run, entries }: Detail): string {
  const { status, error, labels = {}, parent, version } = instance;
  const about = [
    ["instance", showReference(instance)],
    ["status", status, styleOfStatus(status)],
    ["why", explanation && showTimesIn(explanation.sentence)],
    ["run", String(instance.run)],
    ["version", version === undefined ? null : String(version)],
    [
      "labels",
      Object.keys(labels).length === 0
        ? null
        : Object.entries(labels)
            .map((pair) => pair.join("="))
            .join(" "),
    ],
    ["parent", parent === undefined ? null : showReference(parent)],
    ["created", `${showTime(instance.createdAt)} (${showWhen(instance.createdAt)})`],
    ["started", instance.startedAt === null ? null : showTime(instance.startedAt)],
    ["finished", instance.finishedAt === null ? null : showTime(instance.finishedAt)],
    ["output", "output" in instance ? showValue(instance.output) : null],
    ["error", error === undefined ? null : (error.stack ?? `${error.name}: ${error.message}`)],
    ["rollback", instance.rollback?.outcome],
    ["diverged", instance.diverged?.message],
    ["unreadable", instance.unreadable?.message],
  ] as const;
  const started = run === instance.run ? instance.startedAt : null;
  const waterfall = drawWaterfall(terminal, toSpans(entries, started), Date.now());
  const heading = run === instance.run ? "" : `\n${terminal.style("dim", `Run ${run}`)}`;
  return [showFields(terminal, about), ...(waterfall === "" ? [] : [`${heading}\n${waterfall}`])].join("\n");
}

const HISTORY_COLUMNS: readonly Column<WireEntry>[] = [
  { title: "AT", of: ({ at }) => showTime(at) },
  { title: "STEP", of: ({ type, name, count }) => `${type}:${name}${count > 1 ? `#${count}` : ""}` },
  { title: "WHAT", of: ({ kind }) => kind },
  { title: "ATTEMPT", of: ({ attempt }) => (attempt ? String(attempt) : ""), right: true },
  { title: "VALUE", of: describeEntry, flexible: true },
];

function describeEntry({ output, error, awaits, dueAt }: WireEntry): string {
  if (error !== undefined) return `${error.name}: ${error.message}`;
  const due = dueAt === undefined ? "" : ` until ${showTime(dueAt)}`;
  if (awaits !== undefined) return `${awaits}${due}`;
  return output === undefined ? due.trim() : showValue(output).replaceAll(/\s+/g, " ");
}

export function addInstanceHistory(parent: Command, context: CommandContext): void {
  const command = parent
    .command("history")
    .summary("lists the journal of an instance")
    .argument("<instance>", "as workflow/id")
    .option("--run <number>", "of this run");
  withTarget(withWatch(command)).action(async (text: string, flags: OutputFlags & TargetFlags & { run?: string }) => {
    const reference = parseReference(text);
    await using target = await openTarget(flags, context);
    const run = flags.run === undefined ? undefined : Number(flags.run);
    await show(
      context,
      flags,
      () => readEntries(target, reference, run),
      ({ entries }) => (entries.length === 0 ? "No entries." : showTable(context.terminal, entries, HISTORY_COLUMNS)),
    );
  });
}
