import { once } from "node:events";
import type { Command } from "commander";
import type { LogDetails, Logger } from "../../logger.ts";
import { followAll, tellPeople } from "../commands/tail.ts";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { describeFailure } from "../failures.ts";
import { inProcess } from "../targets/open-target.ts";
import { safeLines } from "../terminal/safe-text.ts";
import type { Style, Terminal } from "../terminal/terminal.ts";
import { showClock } from "../terminal/times.ts";
import { serveDashboard } from "./dev-server.ts";
import type { DevNews, DevOrder } from "./dev-session.ts";
import { runApplication } from "./run-application.ts";

/** Running work gets so long when the code is loaded again; then another process continues it. */
const STOP_MS = 2000;

/** The process that has the application's code: `perdure dev` starts a new one when the code changes. */
export function addDevWorker(program: Command, context: CommandContext): void {
  program.command("dev-worker", { hidden: true }).action(async () => {
    const [order] = (await once(process, "message")) as [DevOrder];
    const tell = (news: DevNews) => void process.send?.(news);
    const { terminal, signal } = context;
    const { app, stop } = await runApplication(order.file, { logger: toLogger(terminal) });
    try {
      const server = await serveDashboard(app, order, tell);
      const target = inProcess({ app, address: order.file, close: () => stop(STOP_MS) });
      process.once("disconnect", () => process.emit("SIGTERM")); // `perdure dev` was lost
      await followAll({ target, tell: tellPeople(terminal), signal, since: Date.now() }, undefined, {});
      server.close();
      server.closeAllConnections();
    } finally {
      await stop(STOP_MS);
      if (process.connected) process.disconnect();
    }
    context.exitWith(ExitCode.ok);
  });
}

/** Log lines for people, between the events. */
function toLogger(terminal: Terminal): Logger {
  const write = (style: Style, level: string) => (message: string, details?: LogDetails) => {
    const time = terminal.style("dim", showClock(new Date()));
    const { error, ...others } = details ?? {};
    const reason = error === undefined ? "" : `  ${describeFailure(error).message}`;
    const shown = Object.entries(others).map(([name, value]) => `${name}=${String(value)}`);
    terminal.print(
      `${time}  ${terminal.style(style, level)}  ${safeLines(`${message}${reason}  ${shown.join(" ")}`.trimEnd())}`,
    );
  };
  return { info: write("dim", "info"), warn: write("yellow", "warning"), error: write("red", "error") };
}
