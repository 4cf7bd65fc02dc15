import type { Command } from "commander";
import { type InstanceJobAction, STATUSES_FOR_ACTION } from "../../jobs/job-request.ts";
import type { RestartRunOptions, WorkflowInstance } from "../../workflows/instances/instance.ts";
import type { CommandContext } from "../context.ts";
import { usageError } from "../failures.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { requireConsent } from "../terminal/questions.ts";
import { actOnAll } from "./action.ts";
import { type FilterFlags, isFiltered, toQuery, withFilter } from "./instance-filter.ts";
import { readPage } from "./instance-list.ts";
import { type InstanceReference, parseReference, showReference } from "./instance-reference.ts";
import { withJson } from "./output.ts";

interface ActionFlags extends FilterFlags, TargetFlags {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly rollback?: boolean;
  readonly from?: string;
  readonly newest?: boolean;
}

interface Action {
  readonly name: InstanceJobAction;
  /** In the past. */
  readonly done: string;
  readonly summary: string;
  /** Whether it is asked for one instance, too: it can't be undone. */
  readonly destructive?: boolean;
  readonly act: (instance: WorkflowInstance, flags: ActionFlags) => Promise<void>;
  readonly configure?: (command: Command) => Command;
}

const ACTIONS: readonly Action[] = [
  {
    name: "pause",
    done: "paused",
    summary: "pauses instances: running steps end, and no others begin",
    act: (instance) => instance.pause(),
  },
  { name: "resume", done: "resumed", summary: "resumes paused instances", act: (instance) => instance.resume() },
  {
    name: "terminate",
    done: "terminated",
    summary: "ends instances",
    destructive: true,
    configure: (command) => command.option("--rollback", "runs the rollbacks of their steps first"),
    act: (instance, { rollback }) => instance.terminate(rollback === undefined ? {} : { rollback }),
  },
  {
    name: "restart",
    done: "restarted",
    summary: "runs instances again with the same params",
    destructive: true,
    configure: (command) =>
      command
        .option("--from <step>", "keeps the results before this step: charge, do:charge, or do:charge#2")
        .option("--newest", "on the newest version of the workflow"),
    act: (instance, flags) => instance.restart(toRestart(flags)),
  },
  {
    name: "retry",
    done: "retried",
    summary: "runs the failed steps of errored instances again",
    act: (instance) => instance.retryFailedStep(),
  },
  {
    name: "delete",
    done: "deleted",
    summary: "deletes instances with their histories",
    destructive: true,
    act: (instance) => instance.delete(),
  },
];

export function addInstanceActions(parent: Command, context: CommandContext): void {
  for (const action of ACTIONS) addAction(parent, context, action);
}

function addAction(parent: Command, context: CommandContext, action: Action): void {
  const { name, summary, configure = (command) => command } = action;
  const command = parent
    .command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}: those that are named, or all that match a filter.`)
    .argument("[instance...]", "as workflow/id")
    .option("--workflow <name>", "all of this workflow")
    .option("--all", "all instances of the application, if there is no other filter")
    .option("--dry-run", "only counts them")
    .option("-y, --yes", "asks no question");
  withTarget(withJson(withFilter(configure(command)))).action(async (given: readonly string[], flags: ActionFlags) => {
    await using target = await openTarget(flags, context);
    const named = given.length > 0;
    const references = named ? given.map(parseReference) : await findMatching(target, context, name, flags);
    if (named && (flags.all || isFiltered(flags))) throw usageError("Name instances, or give a filter, but not both.");
    await perform({ target, context, action, flags }, references, named);
  });
}

interface Performance {
  readonly target: Target;
  readonly context: CommandContext;
  readonly action: Action;
  readonly flags: ActionFlags;
}

async function perform(
  { target, context, action, flags }: Performance,
  references: readonly InstanceReference[],
  named: boolean,
): Promise<void> {
  const { terminal } = context;
  const count = `${references.length} ${references.length === 1 ? "instance" : "instances"}`;
  if (flags.dryRun || references.length === 0) {
    if (flags.json) terminal.printJson({ matching: references.length });
    else terminal.print(references.length === 0 ? "No instance matches." : `${count} would be ${action.done}.`);
    return;
  }
  if (!named || action.destructive) {
    const [one] = references;
    const subject = named && references.length === 1 && one ? showReference(one) : count;
    const question = `${action.name[0]?.toUpperCase()}${action.name.slice(1)} ${subject} in ${target.address}?`;
    await requireConsent(terminal, { question, given: flags.yes === true });
  }
  await actOnAll(context, {
    done: action.done,
    items: references,
    name: showReference,
    json: flags.json === true,
    act: async ({ workflowName, id }) => action.act(await target.workflow(workflowName).get(id), flags),
  });
}

/** All instances that match and that the action is for, before any of them changes. */
async function findMatching(
  target: Target,
  { terminal, signal }: CommandContext,
  action: InstanceJobAction,
  flags: ActionFlags,
): Promise<InstanceReference[]> {
  if (!isFiltered(flags) && !flags.all) {
    throw usageError("Name instances, as workflow/id, or give a filter.", "For all instances: --all.");
  }
  const status = STATUSES_FOR_ACTION[action].filter((one) => flags.status?.includes(one) ?? true);
  if (status.length === 0) return [];
  const found: InstanceReference[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(target, flags.workflow, { ...toQuery(flags), status, limit: "1000", cursor });
    found.push(...page.instances.map(({ workflowName, id }) => ({ workflowName, id })));
    cursor = page.cursor ?? undefined;
    if (cursor !== undefined && terminal.interactive) terminal.note(`${found.length} found so far`);
    signal.throwIfAborted();
  } while (cursor !== undefined);
  return found;
}

const STEP = /^(?:(do|sleep|waitForEvent|result):)?(.+?)(?:#(\d+))?$/;

function toRestart({ from, newest }: ActionFlags): RestartRunOptions {
  const [, type, name = "", count] = STEP.exec(from ?? "") ?? [];
  const step = { name, ...(type && { type }), ...(count && { count: Number(count) }) };
  return {
    ...(from === undefined ? {} : { from: step as NonNullable<RestartRunOptions["from"]> }),
    ...(newest ? { version: "newest" as const } : {}),
  };
}
