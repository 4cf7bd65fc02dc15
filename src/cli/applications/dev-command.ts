import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { ExitCode } from "../exit-codes.ts";
import { safeText } from "../terminal/safe-text.ts";
import { findModule } from "./application-module.ts";
import { createSecret, type DevNews, type DevOrder, linkTo, removePlace, writePlace } from "./dev-session.ts";
import { parseNumber, untilAborted } from "./start.ts";
import { CodeWatch } from "./watch-code.ts";

interface Flags {
  readonly port?: string;
  readonly reload: boolean;
}

const USUAL_PORT = 4747;
/** An application that doesn't stop by then is killed: its work is recovered. */
const STOP_MS = 5000;

export function addDev(program: Command, context: CommandContext): void {
  program
    .command("dev")
    .summary("runs an application with its worker and the dashboard, and loads it again when its code changes")
    .argument("[module]", "the application module; default: app.ts, or app.js")
    .option("-p, --port <number>", `of the dashboard, on this machine only; default: ${USUAL_PORT}, or a free one`)
    .option("--no-reload", "doesn't watch the code")
    .action(async (module: string | undefined, { port, reload }: Flags) => {
      const file = findModule(module, context.directory);
      const dev = new Development(context, file, port === undefined ? null : parseNumber("--port", port, 65_535));
      await dev.run(reload);
      context.exitWith(ExitCode.ok);
    });
}

/** The process that stays while the application comes and goes. */
class Development {
  readonly #context: CommandContext;
  readonly #file: string;
  readonly #order: { session: DevOrder["session"]; anyPort: boolean };
  #child: ChildProcess | null = null;
  /** Restarts happen one after the other. */
  #queue: Promise<void> = Promise.resolve();
  #announced = false;

  constructor(context: CommandContext, file: string, port: number | null) {
    this.#context = context;
    this.#file = file;
    const session = {
      port: port ?? USUAL_PORT,
      cookie: createSecret(),
      control: createSecret(),
      links: [createSecret()],
    };
    this.#order = { session, anyPort: port === null };
  }

  async run(reload: boolean): Promise<void> {
    const { signal, terminal, directory } = this.#context;
    const watch = reload ? new CodeWatch(dirname(this.#file), (changed) => this.#restart(changed)) : null;
    if (watch?.incomplete) terminal.note("There are more folders than can be watched: some changes won't be seen.");
    this.#start();
    await untilAborted(signal);
    watch?.close();
    removePlace(directory);
    await this.#queue;
    await this.#stop();
  }

  #restart(changed: string): void {
    this.#queue = this.#queue.then(async () => {
      if (this.#context.signal.aborted) return;
      this.#context.terminal.noteStyled("cyan", `${safeText(changed)} has changed: loading the application again`);
      await this.#stop();
      this.#start();
    });
  }

  #start(): void {
    const types = process.features.typescript
      ? []
      : ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];
    const script = process.argv[1] as string;
    // The child has a session of its own, so that Ctrl-C reaches it through this process only, once.
    const child = fork(script, ["dev-worker"], { execArgv: [...process.execArgv, ...types], detached: true });
    this.#child = child;
    child.on("message", (news: DevNews) => this.#hear(news));
    child.on("exit", (code, signal) => this.#ended(child, code ?? signal));
    child.send({ file: this.#file, ...this.#order } satisfies DevOrder);
  }

  #hear(news: DevNews): void {
    const { session } = this.#order;
    if (news.kind === "links") {
      this.#order.session = { ...session, links: news.links };
      return;
    }
    this.#order.session = { ...session, port: news.port };
    const { terminal, directory } = this.#context;
    writePlace(directory, { pid: process.pid, port: news.port, control: session.control });
    if (this.#announced) {
      terminal.noteStyled("cyan", "The application runs again.");
      return;
    }
    this.#announced = true;
    const [token = ""] = session.links;
    terminal.print(`Dashboard: ${terminal.style("cyan", linkTo(news.port, token))}`);
    terminal.note("The link works once; another one: perdure open. Stop with Ctrl-C.");
  }

  #ended(child: ChildProcess, reason: number | string | null): void {
    if (this.#child !== child) return; // it was stopped
    this.#child = null;
    if (this.#context.signal.aborted) return;
    this.#context.terminal.noteStyled(
      "red",
      `The application has ended (${reason}). It is started again when its code changes.`,
    );
  }

  async #stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(timer);
  }
}
