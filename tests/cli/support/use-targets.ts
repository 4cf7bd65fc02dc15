import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type Application, type PerdureOptions, perdure } from "../../../src/app/perdure.ts";
import type { HookDefinitions } from "../../../src/hooks/define-hook.ts";
import { bearerToken, createHttpHandler } from "../../../src/http/index.ts";
import { toNodeHandler } from "../../../src/http/node.ts";
import type { Workflows } from "../../../src/workflows/define/workflow-types.ts";
import { LogBook } from "../../hooks/support/log-book.ts";
import { ENGINES, type TestEngine, type TestStore } from "../../support/engines.ts";
import { type CommandOptions, type CommandResult, runCommand } from "./run-command.ts";

const TOKEN = "a-token-of-the-command-line";

/** Where commands find an application: in its file, in its database, and behind its server. */
export const TARGETS: readonly { readonly name: string; readonly engine: TestEngine; readonly served: boolean }[] = [
  ...ENGINES.map((engine) => ({ name: engine.dialect, engine, served: false })),
  { name: "a server", engine: ENGINES[0] as TestEngine, served: true },
];

/** A database for the tests of one `describe`, and an application that commands work on for each of them. */
export function useTarget(target: (typeof TARGETS)[number]): TargetUnderTest {
  const subject = new TargetUnderTest(target.served);
  beforeAll(async () => {
    subject.database = await target.engine.create();
  });
  afterEach(() => subject.end());
  afterAll(() => subject.database?.dispose());
  return subject;
}

class TargetUnderTest {
  database: TestStore | undefined;
  readonly #served: boolean;
  #namespaces = 0;
  #address: readonly string[] = [];
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor(served: boolean) {
    this.#served = served;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }

  async start<const Hooks extends HookDefinitions, const Registry extends Workflows>(
    options: Omit<PerdureOptions<Hooks, Registry>, "database">,
  ): Promise<Application<Hooks, Registry>> {
    const database = this.database?.location as string;
    const namespace = `command-${++this.#namespaces}`;
    const app = await perdure({ namespace, logger: new LogBook(), ...options, database });
    this.#ends.push(() => app.stop({ deadlineMs: 0 }));
    this.#address = this.#served
      ? await this.#serve(app)
      : ["--database", database, "--namespace", app.parts.namespace];
    return app;
  }

  /** Runs a command on the application. */
  run(parameters: string | readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
    const words = typeof parameters === "string" ? parameters.split(" ") : parameters;
    return runCommand([...words, ...this.#address], { env: { PERDURE_TOKEN: TOKEN }, ...options });
  }

  async #serve(app: Application<HookDefinitions, Workflows>): Promise<readonly string[]> {
    const handler = createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(TOKEN) });
    const server: Server = createServer(toNodeHandler(handler));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#ends.push(async () => {
      server.close();
      server.closeAllConnections();
    });
    return ["--server", `http://127.0.0.1:${(server.address() as AddressInfo).port}/perdure`];
  }
}
