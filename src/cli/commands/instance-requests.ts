import type { Command } from "commander";
import type { Duration } from "../../duration.ts";
import { WorkflowFailedError, WorkflowTerminatedError } from "../../errors.ts";
import { encodeValue } from "../../values/index.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError, usageError } from "../failures.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { type InstanceReference, parseReference, showReference } from "./instance-reference.ts";
import { withJson } from "./output.ts";
import { readValue, showValue } from "./values.ts";

interface Flags extends TargetFlags {
  readonly json?: boolean;
  readonly id?: string;
  readonly label?: readonly string[];
  readonly priority?: string;
  readonly wait?: boolean;
  readonly timeout?: string;
}

const VALUE = "JSON, a text, @file, or - for the standard input";

export function addInstanceCreate(parent: Command, context: CommandContext): void {
  const command = parent
    .command("create")
    .summary("creates an instance")
    .description("Creates an instance. It needs the workflow's code: --app, or --server.")
    .argument("<workflow>")
    .argument("[params]", VALUE)
    .option("--id <id>", "its id; default: a new one")
    .option("--label <key=value...>", "its labels")
    .option("--priority <number>", "others with a higher one begin first")
    .option("--wait", "waits for its result");
  withTarget(withJson(command)).action(async (workflow: string, text: string | undefined, flags: Flags) => {
    const params = await readValue(text, context.terminal.streams.stdin);
    await using target = await openTarget(flags, context);
    const { id } = await target.workflow(workflow).create({
      ...(params === undefined ? {} : { params }),
      ...(flags.id === undefined ? {} : { id: flags.id }),
      ...(flags.priority === undefined ? {} : { priority: Number(flags.priority) }),
      ...(flags.label === undefined ? {} : { labels: toLabels(flags.label) }),
    } as never);
    const reference = { workflowName: workflow, id };
    if (flags.wait) await printResult(context, target, reference, flags);
    else if (flags.json) context.terminal.printJson(reference);
    else context.terminal.print(showReference(reference));
  });
}

export function addInstanceSend(parent: Command, context: CommandContext): void {
  const command = parent
    .command("send")
    .summary("sends an event")
    .description(
      "Sends an event to an instance; or to all unfinished instances of a workflow with all of these labels.",
    )
    .argument("<instance>", "as workflow/id; with --label, the workflow")
    .argument("<type>", "of the event")
    .argument("[payload]", VALUE)
    .option("--id <id>", "of the event, which is then delivered once, however often it is sent")
    .option("--label <key=value...>", "sends it to all instances with these labels");
  withTarget(withJson(command)).action(async (to: string, type: string, text: string | undefined, flags: Flags) => {
    const { terminal } = context;
    const payload = await readValue(text, terminal.streams.stdin);
    const event = {
      type,
      ...(payload === undefined ? {} : { payload }),
      ...(flags.id === undefined ? {} : { id: flags.id }),
    };
    const reference = flags.label === undefined ? parseReference(to) : null;
    await using target = await openTarget(flags, context);
    if (reference === null) {
      const labels = toLabels(flags.label ?? []);
      const answer = await target.workflow(to).sendEventToAll({ ...event, labels } as never);
      if (flags.json) terminal.printJson(answer);
      else terminal.print(`${answer.sent} have it; ${answer.full} take no more events now.`);
      return;
    }
    await (await target.workflow(reference.workflowName).get(reference.id)).sendEvent(event as never);
    if (flags.json) terminal.printJson({ ...reference, type });
    else terminal.print(`${type} sent to ${showReference(reference)}`);
  });
}

export function addInstanceResult(parent: Command, context: CommandContext): void {
  const command = parent
    .command("result")
    .summary("waits for the end of an instance, and prints its output")
    .argument("<instance>", "as workflow/id")
    .option("--timeout <duration>", "the longest time to wait, such as '5 minutes'");
  withTarget(withJson(command)).action(async (text: string, flags: Flags) => {
    const reference = parseReference(text);
    await using target = await openTarget(flags, context);
    await printResult(context, target, reference, flags);
  });
}

async function printResult(
  { terminal, signal }: CommandContext,
  target: Target,
  { workflowName, id }: InstanceReference,
  { timeout, json }: Flags,
): Promise<void> {
  const instance = await target.workflow(workflowName).get(id);
  const limit = timeout === undefined ? {} : { timeout: timeout as Duration };
  const output = await instance.result({ ...limit, signal }).catch((error: unknown) => {
    const failed = error instanceof WorkflowFailedError || error instanceof WorkflowTerminatedError;
    if (!failed) throw error;
    const cause = error.cause instanceof Error ? `: ${error.cause.name}: ${error.cause.message}` : "";
    const next = `See why: perdure workflows show ${workflowName}/${id}.`;
    throw new CommandError(error.code, `${error.message}${cause}`, { exitCode: ExitCode.failed, next });
  });
  const wire: unknown = JSON.parse(encodeValue(output));
  if (json) terminal.printJson(wire);
  else terminal.print(showValue(wire));
}

function toLabels(texts: readonly string[]): Readonly<Record<string, string>> {
  const pairs = texts.map((text) => {
    const equals = text.indexOf("=");
    if (equals < 1) throw usageError(`A label is a key, an equals sign and a value; got "${text}".`);
    return [text.slice(0, equals), text.slice(equals + 1)] as const;
  });
  return Object.fromEntries(pairs);
}
