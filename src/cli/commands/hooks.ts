import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { type Column, showFields, showTable } from "../terminal/table.ts";
import { showTime, showTimesIn, showWhen } from "../terminal/times.ts";
import type { WireExplanation } from "./explain.ts";
import { addHookActions } from "./hook-actions.ts";
import { parseLimit } from "./instance-list.ts";
import { type OutputFlags, show, withWatch } from "./output.ts";
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
    .option("--id-prefix <text>", "ids that begin with this")
    .option("--error <text>", "hooks whose last error contains this")
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
  addHookActions(hooks, context);
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
    ["why", explanation && showTimesIn(explanation.sentence)],
    ["attempts", String(hook.attempts)],
    ["created", showTime(hook.createdAt)],
    ["last attempt", hook.lastAttemptAt && showTime(hook.lastAttemptAt)],
    ["due", hook.availableAt && `${showTime(hook.availableAt)} (${showWhen(hook.availableAt)})`],
    ["finished", hook.finishedAt && showTime(hook.finishedAt)],
    ["payload", showValue(hook.payload)],
    ["error", error ? (error.stack ?? `${error.name}: ${error.message}`) : null],
  ]);
}
