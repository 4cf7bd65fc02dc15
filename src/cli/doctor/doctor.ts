import type { Command } from "commander";
import type { Health } from "../../monitoring/health.ts";
import { withJson } from "../commands/output.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { describeFailure } from "../failures.ts";
import { inProcess, openApplication, openTarget } from "../targets/open-target.ts";
import type { Target } from "../targets/target.ts";
import { readTarget, type TargetFlags, withTarget } from "../targets/target-options.ts";
import { safeText } from "../terminal/safe-text.ts";
import type { Style } from "../terminal/terminal.ts";
import { checkDatabase } from "./database-checks.ts";
import { type Finding, failed, ok } from "./finding.ts";
import { checkWork } from "./work-checks.ts";

interface Flags extends TargetFlags {
  readonly json?: boolean;
  readonly strict?: boolean;
}

export function addDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .summary("checks the database, the workers and the work")
    .description(
      `Checks the database, the workers and the work. The exit code is ${ExitCode.problem} if a check failed, for deployments.`,
    )
    .option("--strict", "a warning counts as a failure");
  withTarget(withJson(command)).action(async (flags: Flags) => {
    const findings = await examine(flags, context);
    const { terminal } = context;
    if (flags.json) terminal.printJson({ findings });
    else for (const finding of findings) print(context, finding);
    const bad = findings.some(({ state }) => state === "failed" || (flags.strict && state === "warning"));
    if (bad) context.exitWith(ExitCode.problem);
  });
}

async function examine(flags: Flags, context: CommandContext): Promise<Finding[]> {
  const name = readTarget(flags, context.env);
  if (name.kind === "server") {
    await using target = await openTarget(flags, context);
    return await checkServer(target);
  }
  const opened = await openApplication(name, context);
  await using target = inProcess(opened);
  const found = await checkDatabase(opened.app.parts.store, opened.address);
  return found.some(({ state }) => state === "failed") ? found : [...found, ...(await checkWork(target))];
}

async function checkServer(target: Target): Promise<Finding[]> {
  const health = await target.get<Health>(["health", "ready"], {}, 503).catch(describeFailure);
  if ("exitCode" in health) {
    return [failed("server", health.message, health.next ?? "Check the address, and that the server runs.")];
  }
  const { database, schema, dispatcher } = health.checks;
  const next = "Look at the server's log, and run perdure doctor with --database where it runs.";
  const checks = { database, schema, ...(dispatcher === null ? {} : { dispatcher }) };
  const found = Object.entries(checks).map(([check, state]) =>
    state.ok ? ok(check, "ok") : failed(check, state.problem ?? "not ok", next),
  );
  const answers = ok("server", `${target.address} answers`);
  return health.ready ? [answers, ...found, ...(await checkWork(target))] : [answers, ...found];
}

const STYLES: Readonly<Record<Finding["state"], Style>> = { ok: "green", warning: "yellow", failed: "red" };

function print({ terminal }: CommandContext, { check, state, message, next }: Finding): void {
  const symbol = { ok: terminal.symbols.ok, warning: terminal.symbols.warning, failed: terminal.symbols.failed }[state];
  terminal.print(`${terminal.style(STYLES[state], symbol)} ${check}: ${safeText(message)}`);
  if (next !== undefined) terminal.print(terminal.style("dim", `  ${terminal.symbols.arrow} ${next}`));
}
