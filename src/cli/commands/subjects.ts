import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { openTarget } from "../targets/open-target.ts";
import { type TargetFlags, withTarget } from "../targets/target-options.ts";
import { requireConsent } from "../terminal/questions.ts";
import { type Column, showFields, showTable } from "../terminal/table.ts";
import { showTime, showWhen } from "../terminal/times.ts";
import { parseLimit } from "./instance-list.ts";
import { type OutputFlags, show, withJson, withWatch } from "./output.ts";
import { showValue } from "./values.ts";

/** A subject as the HTTP API gives it. */
interface WireSubject {
  readonly dispatcherId: string;
  readonly subjectKey: string;
  readonly group: string | null;
  readonly status: string;
  readonly revision: number;
  readonly cursor: unknown;
  readonly meta: unknown;
  readonly nextDueAt: string | null;
  readonly leaseOwner: string | null;
  readonly leaseExpiresAt: string | null;
  readonly consecutiveFailures: number;
  readonly lastError: { readonly name: string; readonly message: string } | null;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
}

interface Page {
  readonly subjects: readonly WireSubject[];
  readonly cursor: string | null;
}

interface Flags extends OutputFlags, TargetFlags {
  readonly status?: string;
  readonly group?: string;
  readonly limit: string;
  readonly cursor?: string;
  readonly revision?: string;
  readonly yes?: boolean;
}

const COLUMNS: readonly Column<WireSubject>[] = [
  { title: "SUBJECT", of: ({ subjectKey }) => subjectKey },
  { title: "GROUP", of: ({ group }) => group ?? "" },
  { title: "STATUS", of: ({ status }) => status, style: ({ status }) => (status === "failed" ? "red" : null) },
  { title: "REVISION", of: ({ revision }) => String(revision), right: true },
  { title: "DUE", of: ({ nextDueAt }) => showWhen(nextDueAt) },
  { title: "OWNER", of: ({ leaseOwner }) => leaseOwner ?? "", flexible: true },
  { title: "LAST ERROR", of: ({ lastError }) => lastError?.message ?? "", flexible: true },
];

export function addSubjects(program: Command, context: CommandContext): void {
  const subjects = program.command("subjects").summary("subjects by dispatcher: list, show, release, make due");
  const list = subjects
    .command("list")
    .summary("lists a dispatcher's subjects; without one, the dispatchers that the application defines")
    .argument("[dispatcher]")
    .addOption(new Option("--status <status>").choices(["idle", "failed", "leased", "running", "retired"]))
    .option("--group <group>", "only of this group")
    .addOption(new Option("--limit <number>", "at most so many").default("50"))
    .option("--cursor <cursor>", "the next page");
  withTarget(withWatch(list)).action(async (dispatcher: string | undefined, flags: Flags) => {
    await using target = await openTarget(flags, context);
    if (dispatcher === undefined) {
      const load = () => target.get<{ dispatchers: string[] }>(["subjects"]);
      await show(context, flags, load, ({ dispatchers }) =>
        dispatchers.length === 0 ? "This code defines no subjects: name a dispatcher." : dispatchers.join("\n"),
      );
      return;
    }
    const { status, group, cursor } = flags;
    const query = { status, group, cursor, limit: parseLimit(flags.limit) };
    await show(
      context,
      flags,
      () => target.get<Page>(["subjects", dispatcher], query),
      (page) => drawPage(context, page),
    );
  });
  const one = subjects.command("show").summary("shows a subject").argument("<dispatcher>").argument("<key>");
  withTarget(withWatch(one)).action(async (dispatcher: string, key: string, flags: Flags) => {
    await using target = await openTarget(flags, context);
    const load = () => target.get<WireSubject>(["subjects", dispatcher, key]);
    await show(context, flags, load, (subject) => drawSubject(context, subject));
  });
  addRelease(subjects, context);
  const due = subjects
    .command("due")
    .summary("makes a subject without an owner due now")
    .argument("<dispatcher>")
    .argument("<key>");
  withTarget(withJson(due)).action(async (dispatcher: string, key: string, flags: Flags) => {
    await using target = await openTarget(flags, context);
    await target.post(["subjects", dispatcher, key, "due"]);
    if (flags.json) context.terminal.printJson({ dispatcherId: dispatcher, subjectKey: key });
    else context.terminal.print(`${key} is due`);
  });
}

function addRelease(parent: Command, context: CommandContext): void {
  const command = parent
    .command("release")
    .summary("takes a subject from its owner")
    .argument("<dispatcher>")
    .argument("<key>")
    .option("--revision <number>", "does nothing if it has another one; default: the present one")
    .option("-y, --yes", "asks no question");
  withTarget(withJson(command)).action(async (dispatcher: string, key: string, flags: Flags) => {
    await using target = await openTarget(flags, context);
    const path = ["subjects", dispatcher, key];
    const revision =
      flags.revision === undefined ? (await target.get<WireSubject>(path)).revision : Number(flags.revision);
    const question = `Take ${key} from its owner in ${target.address}?`;
    await requireConsent(context.terminal, { question, given: flags.yes === true });
    const released = await target.post<WireSubject>([...path, "release"], { revision });
    if (flags.json) context.terminal.printJson(released);
    else context.terminal.print(`${key} is ${released.status}, at revision ${released.revision}`);
  });
}

function drawPage({ terminal }: CommandContext, { subjects, cursor }: Page): string {
  if (subjects.length === 0) return "No subjects.";
  const more = cursor === null ? [] : [terminal.style("dim", `There are more: --cursor ${cursor}`)];
  return [showTable(terminal, subjects, COLUMNS), ...more].join("\n");
}

function drawSubject({ terminal }: CommandContext, subject: WireSubject): string {
  const { lastError, leaseOwner, leaseExpiresAt } = subject;
  return showFields(terminal, [
    ["dispatcher", subject.dispatcherId],
    ["subject", subject.subjectKey],
    ["group", subject.group],
    ["status", subject.status, subject.status === "failed" ? "red" : null],
    ["revision", String(subject.revision)],
    ["due", subject.nextDueAt && `${showTime(subject.nextDueAt)} (${showWhen(subject.nextDueAt)})`],
    ["owner", leaseOwner && `${leaseOwner}, until ${showTime(leaseExpiresAt)}`],
    ["cursor", showValue(subject.cursor)],
    ["meta", showValue(subject.meta)],
    ["failures", String(subject.consecutiveFailures)],
    ["last success", subject.lastSuccessAt && showTime(subject.lastSuccessAt)],
    ["last failure", subject.lastFailureAt && showTime(subject.lastFailureAt)],
    ["last error", lastError && `${lastError.name}: ${lastError.message}`],
  ]);
}
