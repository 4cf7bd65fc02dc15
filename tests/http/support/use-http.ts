import { afterAll, afterEach, beforeAll } from "vitest";
import { type Application, type PerdureOptions, perdure } from "../../../src/app/perdure.ts";
import type { HookDefinitions } from "../../../src/hooks/define-hook.ts";
import { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from "../../../src/http/index.ts";
import type { Workflows } from "../../../src/workflows/define/workflow-types.ts";
import { LogBook } from "../../hooks/support/log-book.ts";
import type { TestEngine, TestStore } from "../../support/engines.ts";
import { waitUntil } from "../../support/wait-until.ts";

export interface Reply<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where there is none. */
  readonly body: Body;
}

export interface RequestOptions {
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

/** A database for the tests of one `describe`, and an application of its own for each of them. */
export function useHttp(engine: TestEngine): HttpUnderTest {
  const subject = new HttpUnderTest();
  beforeAll(async () => {
    subject.database = await engine.create();
  });
  afterEach(() => subject.end());
  afterAll(() => subject.database?.dispose());
  return subject;
}

type Options<Hooks extends HookDefinitions, Registry extends Workflows> = Omit<
  PerdureOptions<Hooks, Registry>,
  "database"
>;

export class HttpUnderTest {
  database: TestStore | undefined;
  readonly logs: LogBook = new LogBook();
  #namespaces = 0;
  #apps: { stop(): Promise<void> }[] = [];

  async end(): Promise<void> {
    for (const app of this.#apps.splice(0)) await app.stop();
    this.logs.lines.length = 0;
  }

  /** An application that runs, and nothing of any other test's. */
  async start<
    const Hooks extends HookDefinitions = Record<never, never>,
    const Registry extends Workflows = Record<never, never>,
  >(options: Options<Hooks, Registry>): Promise<Application<Hooks, Registry>> {
    if (this.database === undefined) throw new Error("The database is there only while tests run.");
    const { adapter } = this.database;
    const namespace = `namespace-${++this.#namespaces}`;
    const app = await perdure({ namespace, logger: this.logs, ...options, database: adapter });
    this.#apps.push({ stop: () => app.stop({ deadlineMs: 0 }) });
    return app;
  }

  /** The application behind a handler that lets everybody do everything, unless it is told otherwise. */
  serve(app: Parameters<typeof createHttpHandler>[0], options: Partial<HttpHandlerOptions> = {}): Client {
    return new Client(createHttpHandler(app, { authorize: () => true, logger: this.logs, ...options }));
  }
}

/** Asks a handler, with no network between. */
export class Client {
  readonly handler: HttpHandler;

  constructor(handler: HttpHandler) {
    this.handler = handler;
  }

  get<Body = Record<string, unknown>>(path: string, options: RequestOptions = {}): Promise<Reply<Body>> {
    return this.send("GET", path, options);
  }

  post<Body = Record<string, unknown>>(
    path: string,
    json?: unknown,
    options: RequestOptions = {},
  ): Promise<Reply<Body>> {
    const headers = { "content-type": "application/json", ...options.headers };
    return this.send("POST", path, { json, ...options, headers });
  }

  delete<Body = Record<string, unknown>>(path: string, options: RequestOptions = {}): Promise<Reply<Body>> {
    return this.send("DELETE", path, options);
  }

  async send<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options: RequestOptions,
  ): Promise<Reply<Body>> {
    const { headers = {}, json } = options;
    const body = options.body ?? (json === undefined ? null : JSON.stringify(json));
    const init = { method, headers, body, duplex: "half" as const };
    const response = await this.handler(new Request(`http://localhost${path}`, init));
    const text = await response.text();
    const isText = response.headers.get("content-type")?.includes("text") === true;
    const parsed = (isText ? text : text === "" ? undefined : JSON.parse(text)) as Body;
    return { status: response.status, headers: response.headers, body: parsed };
  }

  /** Waits for the status of an instance. */
  async becomes(path: string, ...wanted: readonly string[]): Promise<Record<string, unknown>> {
    return waitUntil(`${path} is ${wanted.join(" or ")}`, async () => {
      const { body } = await this.get(path);
      return wanted.includes(body["status"] as string) ? body : null;
    });
  }
}
