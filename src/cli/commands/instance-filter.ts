import { type Command, Option } from "commander";
import { parseDuration } from "../../duration.ts";
import { INSTANCE_STATUSES } from "../../store/instances/instance-records.ts";
import { usageError } from "../failures.ts";
import { parseReference } from "./instance-reference.ts";

export interface FilterFlags {
  readonly workflow?: string;
  readonly status?: readonly string[];
  readonly label?: readonly string[];
  readonly createdFrom?: string;
  readonly createdBefore?: string;
  readonly finishedFrom?: string;
  readonly finishedBefore?: string;
  readonly idPrefix?: string;
  readonly workflowVersion?: string;
  readonly parent?: string;
  readonly step?: string;
  readonly error?: string;
}

export type FilterQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

const TIMES = ["createdFrom", "createdBefore", "finishedFrom", "finishedBefore"] as const;
const TIME = "an ISO time, or a duration before now, such as '2 hours'";

/** Adds the filters of instances, which lists and bulk actions share. */
export function withFilter(command: Command): Command {
  return command
    .addOption(new Option("--status <status...>", "one of these").choices([...INSTANCE_STATUSES]))
    .addOption(new Option("--label <key=value...>", "all of these"))
    .addOption(new Option("--created-from <time>", `${TIME}`))
    .addOption(new Option("--created-before <time>"))
    .addOption(new Option("--finished-from <time>"))
    .addOption(new Option("--finished-before <time>"))
    .addOption(new Option("--id-prefix <text>", "ids that begin with this"))
    .addOption(new Option("--workflow-version <number>", "of the workflow; 0 is the one without"))
    .addOption(new Option("--parent <instance>", "its children, as workflow/id"))
    .addOption(new Option("--step <name>", "instances whose present run has reached this step"))
    .addOption(new Option("--error <text>", "their error contains this"));
}

/** The filter as the HTTP API takes it. */
export function toQuery(flags: FilterFlags): FilterQuery {
  const wrong = flags.label?.find((label) => label.indexOf("=") < 1);
  if (wrong !== undefined) throw usageError(`A label is a key, an equals sign and a value; got "${wrong}".`);
  return {
    status: flags.status,
    label: flags.label,
    ...Object.fromEntries(TIMES.map((name) => [name, toTime(name, flags[name])])),
    idPrefix: flags.idPrefix,
    version: flags.workflowVersion,
    step: flags.step,
    error: flags.error,
    ...(flags.parent === undefined ? {} : toParent(flags.parent)),
  };
}

/** Whether a filter leaves anything out. */
export function isFiltered(flags: FilterFlags): boolean {
  return FLAGS.some((name) => flags[name] !== undefined);
}

const OTHERS = ["workflow", "status", "label", "idPrefix", "workflowVersion", "parent", "step", "error"] as const;
const FLAGS = [...OTHERS, ...TIMES] as const;

function toParent(parent: string): FilterQuery {
  const { workflowName, id } = parseReference(parent);
  return { parentWorkflow: workflowName, parentId: id };
}

function toTime(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-/.test(text) ? Date.parse(text) : Date.now() - spanOf(text);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  const flag = name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);
  throw usageError(`--${flag} takes ${TIME}; got "${text}".`);
}

function spanOf(text: string): number {
  try {
    return parseDuration(text as never, "duration");
  } catch {
    return Number.NaN;
  }
}
