import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { CommandError, usageError } from "../failures.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { requireConsent } from "../terminal/questions.ts";
import { type Column, showFields, showTable } from "../terminal/table.ts";
import { showTime, showWhen } from "../terminal/times.ts";
import type { WireExplanation } from "./explain.ts";
import { parseLimit } from "./instance-list.ts";
import { type OutputFlags, show, withJson, withWatch } from "./output.ts";
import { showValue } from "./values.ts";

/** A hook as the HTTP API gives it. */
interface WireHook {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly payload?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly stack?: string } | null;
  readonly createdAt: string;
  readonly lastAttemptAt: string | null;
  readonly availableAt: string | null;
  readonly finishedAt: string | null;
}

interface Page {
  readonly hooks: readonly WireHook[];
  readonly cursor: string | null;
}

interface ListFlags extends OutputFlags, TargetFlags {
  readonly status?: string;
  readonly name?: string;
  readonly idPrefix?: string;
  readonly error?: string;
  readonly limit: string;
  readonly cursor?: string;
  readonly oldest?: boolean;
}

interface ActionFlags extends TargetFlags {
  readonly name?: string;
  readonly key?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const COLUMNS: readonly Column<WireHook>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "HOOK", of: ({ name }) => name },
  { title: "STATUS", of: ({ status }) => status, style: ({ status }) => (status === "failed" ? "red" : null) },
  { title: "ATTEMPTS", of: ({ attempts }) => String(attempts), right: true },
  { title: "CREATED", of: ({ createdAt }) => showWhen(createdAt) },
  { title: "DUE", of: ({ availableAt }) => showWhen(availableAt) },
  { title: "ABOUT", of: ({ key, error }) => [key, error?.message].filter(Boolean).join("  "), flexible: true },
];

export function addHooks(program: Command, context: CommandContext): void {
  const hooks = program.command("hooks").summary("hooks and dead letters: list, show, redrive, discard, cancel");
  const list = hooks
    .command("list")
    .summary("lists hooks; those that failed are dead letters")
    .addOption(new Option("--status <status>").choices(["pending", "processing", "failed", "completed"]))
    .option("--name <hook>", "only these")
    .option("--id-prefix <text>", "their ids begin like this")
    .option("--error <text>", "their last error contains this")
    .addOption(new Option("--limit <number>", "at most so many").default("50"))
    .option("--cursor <cursor>", "the next page")
    .option("--oldest", "the oldest first");
  withTarget(withWatch(list)).action(async (flags: ListFlags) => {
    await using target = await openTarget(flags, context);
    const { status, name, idPrefix, error, cursor, oldest } = flags;
    const query = {
      status,
      name,
      idPrefix,
      error,
      cursor,
      limit: parseLimit(flags.limit),
      order: oldest ? "oldest" : undefined,
    };
    await show(
      context,
      flags,
      () => target.get<Page>(["hooks"], query),
      (page) => drawPage(context, page),
    );
  });
  const one = hooks.command("show").summary("shows a hook, and why it waits").argument("<id>");
  withTarget(withWatch(one)).action(async (id: string, flags: OutputFlags & TargetFlags) => {
    await using target = await openTarget(flags, context);
    await show(
      context,
      flags,
      () => readHook(target, id),
      (hook) => drawHook(context, hook),
    );
  });
  addDeadLetterAction(hooks, context, {
    name: "redrive",
    done: "redriven",
    summary: "tries dead letters again, with new attempts",
  });
  addDeadLetterAction(hooks, context, { name: "discard", done: "discarded", summary: "deletes dead letters" });
  addCancel(hooks, context);
}

function drawPage({ terminal }: CommandContext, { hooks, cursor }: Page): string {
  if (hooks.length === 0) return "No hooks.";
  const more = cursor === null ? [] : [terminal.style("dim", `There are more: --cursor ${cursor}`)];
  return [showTable(terminal, hooks, COLUMNS), ...more].join("\n");
}

async function readHook(target: Target, id: string): Promise<{ hook: WireHook; explanation: WireExplanation | null }> {
  const hook = await target.get<WireHook>(["hooks", id]);
  const waits = hook.finishedAt === null;
  return { hook, explanation: waits ? await target.get<WireExplanation>(["hooks", id, "explain"]) : null };
}

function drawHook({ terminal }: CommandContext, { hook, explanation }: Awaited<ReturnType<typeof readHook>>): string {
  const { error } = hook;
  return showFields(terminal, [
    ["id", hook.id],
    ["hook", hook.name],
    ["key", hook.key],
    ["status", hook.status, hook.status === "failed" ? "red" : null],
    ["why", explanation?.sentence],
    ["attempts", String(hook.attempts)],
    ["created", showTime(hook.createdAt)],
    ["last attempt", hook.lastAttemptAt && showTime(hook.lastAttemptAt)],
    ["due", hook.availableAt && `${showTime(hook.availableAt)} (${showWhen(hook.availableAt)})`],
    ["finished", hook.finishedAt && showTime(hook.finishedAt)],
    ["payload", showValue(hook.payload)],
    ["error", error ? (error.stack ?? `${error.name}: ${error.message}`) : null],
  ]);
}

interface DeadLetterAction {
  readonly name: "redrive" | "discard";
  readonly done: string;
  readonly summary: string;
}

/** How many ids a request has. */
const BATCH = 500;

function addDeadLetterAction(
  parent: Command,
  context: CommandContext,
  { name, done, summary }: DeadLetterAction,
): void {
  const command = parent
    .command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}: those that are named, or all that match.`)
    .argument("[id...]")
    .option("--name <hook>", "all dead letters of this hook")
    .option("--all", "all dead letters")
    .option("--dry-run", "only counts them")
    .option("-y, --yes", "asks no question");
  withTarget(withJson(command)).action(async (given: readonly string[], flags: ActionFlags) => {
    const { terminal } = context;
    if (given.length === 0 && !flags.all && flags.name === undefined)
      throw usageError("Name hooks, or use --name or --all.");
    await using target = await openTarget(flags, context);
    const ids = given.length > 0 ? given : await findDeadLetters(target, flags.name, context.signal);
    if (flags.dryRun || ids.length === 0) {
      if (flags.json) terminal.printJson({ matching: ids.length });
      else terminal.print(ids.length === 0 ? "No dead letter matches." : `${ids.length} would be ${done}.`);
      return;
    }
    if (given.length === 0 || name === "discard") {
      const question = `${name[0]?.toUpperCase()}${name.slice(1)} ${ids.length} dead letters in ${target.address}?`;
      await requireConsent(terminal, { question, given: flags.yes === true });
    }
    const changed = await inBatches(context, done, ids, async (batch) => {
      return (await target.post<{ ids: string[] }>(["hooks", name], { ids: batch })).ids;
    });
    if (flags.json) terminal.printJson({ ids: changed });
    else terminal.print(`${changed.length} of ${ids.length} ${done}`);
    if (changed.length === ids.length) return;
    terminal.note("The others are no dead letters any more, or a newer hook holds their key.");
    context.exitWith(changed.length === 0 ? ExitCode.conflict : ExitCode.partly);
  });
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

async function findDeadLetters(target: Target, name: string | undefined, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await target.get<Page>(["hooks"], { status: "failed", name, cursor, limit: 1000 });
    ids.push(...page.hooks.map(({ id }) => id));
    if (page.cursor === null) return ids;
    cursor = page.cursor;
    signal.throwIfAborted();
  }
}

function addCancel(parent: Command, context: CommandContext): void {
  const command = parent
    .command("cancel")
    .summary("cancels a hook that hasn't begun, by id or by name and key")
    .argument("[id]")
    .option("--name <hook>", "of a hook with a key")
    .option("--key <key>", "its key");
  withTarget(withJson(command)).action(async (id: string | undefined, flags: ActionFlags) => {
    const { name, key } = flags;
    if ((id === undefined) === (name === undefined || key === undefined)) {
      throw usageError("Name a hook by its id, or by --name and --key.");
    }
    await using target = await openTarget(flags, context);
    const answer = await target.post<{ cancelled: string[]; running: string[] }>(
      ["hooks", "cancel"],
      id === undefined ? { name, key } : { id },
    );
    const { cancelled, running } = answer;
    if (flags.json) context.terminal.printJson(answer);
    else {
      for (const one of cancelled) context.terminal.print(`${one} cancelled`);
      for (const one of running) context.terminal.print(`${one} runs: its attempt ends, and isn't repeated`);
    }
    if (cancelled.length + running.length > 0 || flags.json) return;
    throw new CommandError("hook.not_found", "No hook was cancelled: none of these waits.", {
      exitCode: ExitCode.notFound,
    });
  });
}
