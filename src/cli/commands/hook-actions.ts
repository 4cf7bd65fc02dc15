import { type Command, Option } from "commander";
import { type HookJobAction, HOOK_STATUSES_FOR_ACTION as STATUSES } from "../../jobs/job-request.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError, usageError } from "../failures.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { requireConsent } from "../terminal/questions.ts";
import { withJson } from "./output.ts";

interface Flags extends TargetFlags {
  readonly status?: string;
  readonly name?: string;
  readonly idPrefix?: string;
  readonly error?: string;
  readonly key?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface HookAction {
  readonly name: HookJobAction;
  /** In the past. */
  readonly done: string;
  readonly summary: string;
  /** What it is for, in words. */
  readonly subjects: string;
  /** Whether it is asked for hooks that are named, too: it can't be undone. */
  readonly destructive: boolean;
  /** Why some of them stayed as they were. */
  readonly rest: string;
  /** Returns the ids of those that it changed. */
  readonly act: (target: Target, ids: readonly string[]) => Promise<readonly string[]>;
}

const ACTIONS: readonly HookAction[] = [
  {
    name: "redrive",
    done: "redriven",
    summary: "tries dead letters again, with new attempts",
    subjects: "dead letters",
    destructive: false,
    rest: "The others are no longer dead letters, or a newer hook holds their key.",
    act: async (target, ids) => (await target.post<{ ids: string[] }>(["hooks", "redrive"], { ids })).ids,
  },
  {
    name: "discard",
    done: "discarded",
    summary: "deletes dead letters, or completed hooks that are kept",
    subjects: "ended hooks",
    destructive: true,
    rest: "The others no longer exist, or haven't ended.",
    act: async (target, ids) => (await target.post<{ ids: string[] }>(["hooks", "discard"], { ids })).ids,
  },
  {
    name: "cancel",
    done: "cancelled",
    summary: "cancels hooks that haven't begun",
    subjects: "hooks that haven't begun",
    destructive: false,
    rest: "The others have ended.",
    act: cancelEach,
  },
];

interface Found {
  readonly hooks: readonly { readonly id: string; readonly name: string }[];
  readonly cursor: string | null;
}

/** How many ids a request has. */
const BATCH = 500;
/** How many hooks are cancelled at a time: each takes a request. */
const AT_ONCE = 8;
const SEARCHED = 1000;

interface Cancelled {
  readonly cancelled: readonly string[];
  readonly running: readonly string[];
}

export function addHookActions(parent: Command, context: CommandContext): void {
  for (const action of ACTIONS) addAction(parent, context, action);
}

function addAction(parent: Command, context: CommandContext, action: HookAction): void {
  const { name, summary } = action;
  const command = parent
    .command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}: those that are named, or all that match.`)
    .argument("[id...]")
    .option("--name <hook>", "all of this hook")
    .option("--id-prefix <text>", "all whose ids begin with this")
    .option("--error <text>", "all whose last error contains this");
  const [usual, ...others] = STATUSES[name];
  if (others.length > 0)
    command.addOption(new Option("--status <status>", `default: ${usual}`).choices([...STATUSES[name]]));
  if (name === "cancel") command.option("--key <key>", "with --name: the one with this key");
  command
    .option("--all", "all that it is for, if there is no other filter")
    .option("--dry-run", "only counts them")
    .option("-y, --yes", "asks no question");
  withTarget(withJson(command)).action(async (given: readonly string[], flags: Flags) => {
    checkFlags(given, flags);
    await using target = await openTarget(flags, context);
    const [one] = name === "cancel" && given.length === 1 ? given : [];
    if (flags.key !== undefined) await cancelOne(target, context, { name: flags.name, key: flags.key }, flags);
    else if (one !== undefined && !flags.dryRun) await cancelOne(target, context, { id: one }, flags);
    else await perform(target, context, action, given, flags);
  });
}

function checkFlags(given: readonly string[], { all, status, name, idPrefix, error, key }: Flags): void {
  const filtered = [status, name, idPrefix, error].some((one) => one !== undefined);
  if (key !== undefined) {
    if (name !== undefined && given.length === 0) return;
    throw usageError("A key belongs to a hook: name both with --name and --key.");
  }
  if (given.length > 0 && (all || filtered)) throw usageError("Name hooks, or give a filter, but not both.");
  if (given.length === 0 && !all && !filtered) throw usageError("Name hooks, or use --name or --all.");
}

async function perform(
  target: Target,
  context: CommandContext,
  action: HookAction,
  given: readonly string[],
  flags: Flags,
): Promise<void> {
  const { terminal } = context;
  const { name, done, subjects, destructive, rest } = action;
  const ids = given.length > 0 ? given : await findHooks(target, action, flags, context.signal);
  if (flags.dryRun || ids.length === 0) {
    if (flags.json) terminal.printJson({ matching: ids.length });
    else terminal.print(ids.length === 0 ? "No hook matches." : `${ids.length} would be ${done}.`);
    return;
  }
  if (given.length === 0 || destructive) {
    const question = `${name[0]?.toUpperCase()}${name.slice(1)} ${ids.length} ${subjects} in ${target.address}?`;
    await requireConsent(terminal, { question, given: flags.yes === true });
  }
  const changed = await inBatches(context, done, ids, (batch) => action.act(target, batch));
  if (flags.json) terminal.printJson({ ids: changed });
  else terminal.print(`${changed.length} of ${ids.length} ${done}`);
  if (changed.length === ids.length) return;
  terminal.note(rest);
  context.exitWith(changed.length > 0 ? ExitCode.partly : name === "cancel" ? ExitCode.notFound : ExitCode.conflict);
}

async function inBatches(
  { terminal, signal }: CommandContext,
  label: string,
  ids: readonly string[],
  act: (batch: readonly string[]) => Promise<readonly string[]>,
): Promise<string[]> {
  const changed: string[] = [];
  const bar = new ProgressBar(terminal, `${label}:`, ids.length);
  for (let index = 0; index < ids.length && !signal.aborted; index += BATCH) {
    const batch = ids.slice(index, index + BATCH);
    changed.push(...(await act(batch)));
    if (ids.length > BATCH) bar.advance(batch.length);
  }
  if (ids.length > BATCH) bar.end();
  return changed;
}

/** All that match, before any of them changes. The library's own hooks are cancelled only by name. */
async function findHooks(
  target: Target,
  { name: action }: HookAction,
  flags: Flags,
  signal: AbortSignal,
): Promise<string[]> {
  const { name, idPrefix, error, status = STATUSES[action][0] } = flags;
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { status, name, idPrefix, error, cursor, limit: SEARCHED };
    const page = await target.get<Found>(["hooks"], query);
    const taken = page.hooks.filter((hook) => name !== undefined || !hook.name.startsWith("$"));
    ids.push(...taken.map(({ id }) => id));
    cursor = page.cursor ?? undefined;
    signal.throwIfAborted();
  } while (cursor !== undefined);
  return ids;
}

/** One that runs ends its attempt, and isn't repeated. */
async function cancelEach(target: Target, ids: readonly string[]): Promise<string[]> {
  const done: string[] = [];
  const queue = ids.values();
  const run = async () => {
    for (const id of queue) {
      const { cancelled, running } = await target.post<Cancelled>(["hooks", "cancel"], { id });
      done.push(...cancelled, ...running);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return done;
}

async function cancelOne(
  target: Target,
  { terminal }: CommandContext,
  reference: Readonly<Record<string, string | undefined>>,
  { json }: Flags,
): Promise<void> {
  const answer = await target.post<Cancelled>(["hooks", "cancel"], reference);
  const { cancelled, running } = answer;
  if (json) terminal.printJson(answer);
  else {
    for (const one of cancelled) terminal.print(`${one} cancelled`);
    for (const one of running) terminal.print(`${one} runs: its attempt ends, and isn't repeated`);
  }
  if (cancelled.length + running.length > 0 || json) return;
  throw new CommandError("hook.not_found", "No hook was cancelled: none of these waits.", {
    exitCode: ExitCode.notFound,
  });
}
