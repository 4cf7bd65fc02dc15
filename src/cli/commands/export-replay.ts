import { existsSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { inspect } from "../../app/perdure.ts";
import { NotFoundError } from "../../errors.ts";
import type { ReplayReport } from "../../testing/replay/replay.ts";
import { encodeValue } from "../../values/index.ts";
import type { RegisteredWorkflow } from "../../workflows/define/registered-workflows.ts";
import type { AnyWorkflow } from "../../workflows/define/workflow-types.ts";
import { findModule, loadModule } from "../applications/application-module.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { usageError } from "../failures.ts";
import { type ExportedHistory, exportHistory, readExported, toRecorded } from "../histories/exported-history.ts";
import { openTarget } from "../targets/open-target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { type Field, showFields } from "../terminal/table.ts";
import { parseReference } from "./instance-reference.ts";
import { withJson } from "./output.ts";
import { showValue } from "./values.ts";

interface ExportFlags extends TargetFlags {
  readonly run?: string;
  readonly output?: string;
}

interface ReplayFlags extends Omit<TargetFlags, "app"> {
  readonly app?: string;
  readonly json?: boolean;
  readonly version?: string;
}

export function addExport(program: Command, context: CommandContext): void {
  const command = program
    .command("export")
    .summary("writes the history of an instance as JSON, for replay")
    .argument("<instance>", "as workflow/id")
    .option("--run <number>", "this run; default: the present one")
    .option("-o, --output <file>", "a new file; default: the standard output");
  withTarget(command).action(async (text: string, { run, output, ...flags }: ExportFlags) => {
    const reference = parseReference(text);
    await using target = await openTarget(flags, context);
    const exported = await exportHistory(target, reference, run === undefined ? undefined : Number(run));
    if (output === undefined) {
      context.terminal.printJson(exported);
      return;
    }
    writeFileSync(output, `${JSON.stringify(exported, null, 2)}\n`, { flag: "wx", mode: 0o600 });
    context.terminal.print(`${exported.entries.length} entries written to ${output}`);
  });
}

export function addReplay(program: Command, context: CommandContext): void {
  const command = program
    .command("replay")
    .summary("says what code would do with a history, without running any step")
    .description(
      `Says what the code of an application module would do with a stored history. No step runs and nothing is stored. The exit code is ${ExitCode.problem} if the code doesn't fit.`,
    )
    .argument("<history>", "a file of perdure export, or an instance as workflow/id")
    .argument("[module]", "the application module; default: app.ts")
    .option("--workflow-version <number>", "of the workflow; default: the newest");
  withTarget(withJson(command)).action(
    async (text: string, module: string | undefined, flags: ReplayFlags & { workflowVersion?: string }) => {
      if (flags.app !== undefined) throw usageError("replay takes the module as its second argument, not as --app.");
      const exported = await findHistory(text, flags, context);
      const version = flags.workflowVersion === undefined ? null : Number(flags.workflowVersion);
      const report = await replayWith(exported, findModule(module, context.directory), version);
      if (flags.json) context.terminal.printJson(toJson(report));
      else context.terminal.print(draw(context, report));
      const fits = report.unreached.length + report.repeated.length === 0;
      if (!fits) context.exitWith(ExitCode.problem);
    },
  );
}

async function findHistory(text: string, flags: TargetFlags, context: CommandContext): Promise<ExportedHistory> {
  if (existsSync(text)) return readExported(text);
  const reference = parseReference(text);
  await using target = await openTarget(flags, context);
  return await exportHistory(target, reference); // before the target is closed
}

/** The database of the module's application isn't opened: the replay has one of its own, in memory. */
async function replayWith(exported: ExportedHistory, file: string, version: number | null): Promise<ReplayReport> {
  const loaded = await loadModule(file);
  const app =
    loaded.kind === "started"
      ? loaded.app
      : await inspect({ workflows: loaded.options.workflows ?? {}, env: loaded.options.env, database: ":memory:" });
  const { replay } = await import("../../testing/index.ts");
  try {
    const registered = app.parts.workflows?.workflows;
    const workflow = find(registered?.all ?? [], exported.instance.workflowName, version);
    const others = Object.fromEntries((registered?.all ?? []).map((one) => [one.key, one.source]));
    delete others[workflow.key];
    const { entries, params } = toRecorded(exported);
    const env = registered?.env;
    return await replay(entries, workflow.source as AnyWorkflow, {
      instanceId: exported.instance.id,
      workflows: others,
      ...(params === undefined ? {} : { params }),
      ...(env === undefined ? {} : { env }),
    });
  } finally {
    await app.stop();
  }
}

function find(
  all: readonly RegisteredWorkflow[],
  name: string,
  version: number | null,
): Pick<RegisteredWorkflow, "key" | "source"> {
  const found = all.find((one) => one.name === name);
  const wanted = version === null ? found : found?.versions.find((one) => one.version === version);
  if (wanted !== undefined) return wanted;
  const known = all.map((one) => one.name).join(", ") || "none";
  const missing = version === null ? `no workflow "${name}"` : `no version ${version} of the workflow "${name}"`;
  throw new NotFoundError("workflow.not_found", `The application module has ${missing}; it has ${known}.`);
}

function toJson(report: ReplayReport): unknown {
  return "output" in report ? { ...report, output: JSON.parse(encodeValue(report.output)) as unknown } : report;
}

function draw({ terminal }: CommandContext, report: ReplayReport): string {
  const { outcome, error, next, unreached, inserted, repeated } = report;
  const fits = unreached.length + repeated.length === 0;
  const verdict = fits
    ? `${terminal.symbols.ok} The code fits the history.`
    : `${terminal.symbols.failed} The code doesn't fit the history.`;
  const fields: Field[] = [
    ["outcome", outcome],
    ["output", "output" in report ? showValue(JSON.parse(encodeValue(report.output))) : null],
    ["error", error && `${error.name}: ${error.message}`],
    ["would do next", next.join("\n") || null],
    ["new, harmless", inserted.join("\n") || null],
    ["new, may repeat", repeated.join("\n") || null, "red"],
    ["not called any more", unreached.join("\n") || null, "red"],
  ];
  return [terminal.style(fits ? "green" : "red", verdict), showFields(terminal, fields)].join("\n");
}
