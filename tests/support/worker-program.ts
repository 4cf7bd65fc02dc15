/**
 * A process that runs hooks, for tests that kill it, stop it and take its database away. It does what its parent asks over the
 * channel between them, and writes down what its handlers do in a file, which outlives it.
 */
import { appendFileSync, existsSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "pg";
import { defineHook, type HookContext, NonRetryableError, perdure } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import type { HookName, WorkerApplication, WorkerMessage, WorkerRequest, WorkerSettings } from "./worker-settings.ts";

flushCompileCache(); // now, because a process that is killed has no other moment for it
const settings = JSON.parse(process.argv[2] ?? "") as WorkerSettings;
const gates = { hold: Promise.withResolvers<void>(), holdDeaf: Promise.withResolvers<void>() };

function write(event: string, { hookId, hookName, attempts }: HookContext): void {
  appendFileSync(settings.runLog, `${event} ${hookId} ${hookName} ${attempts}\n`);
}

function blockUntil(path: string): void {
  const bell = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(path)) Atomics.wait(bell, 0, 0, 1);
}

async function hold(context: HookContext, ending: readonly Promise<unknown>[]): Promise<void> {
  write("started", context);
  context.signal.addEventListener("abort", () => write("aborted", context));
  await Promise.race(ending);
  write("ended", context);
}

const poisonRetries = { limit: 3, delay: 1 };
const hooks = {
  note: defineHook((_payload: string, context) => write("ran", context)),
  hold: defineHook((_payload: string, context) => {
    const aborted = new Promise((_resolve, reject) => {
      context.signal.addEventListener("abort", () => reject(context.signal.reason));
    });
    return hold(context, [gates.hold.promise, aborted]);
  }),
  holdDeaf: defineHook((_payload: string, context) => hold(context, [gates.holdDeaf.promise])),
  block: defineHook((path: string, context) => {
    write("started", context);
    blockUntil(path);
    write("ended", context);
  }),
  poison: defineHook({ retries: poisonRetries }, async (_payload: string, context) => {
    write("started", context);
    process.kill(process.pid, "SIGKILL");
    await delay(60_000); // the signal comes at once
  }),
  refuse: defineHook((_payload: string, context) => {
    write("ran", context);
    throw new NonRetryableError("no");
  }),
};

say({ say: "loaded" });
if (settings.startFile !== undefined) blockUntil(settings.startFile);
const pool = settings.ownPool ? new Pool({ connectionString: settings.database }) : undefined;
pool?.on("error", () => {});
const { worker = {}, keepCompleted = false } = settings;
const app: WorkerApplication = await perdure({
  database: pool ? postgres(pool) : settings.database,
  hooks,
  worker,
  keepCompleted: keepCompleted ? "1 hour" : false,
});

function say(message: WorkerMessage): void {
  process.send?.(message);
}

/** The channel to the parent is let go of last. Then nothing may be left that keeps the process alive. */
async function stop(): Promise<void> {
  say({ say: "stopping" });
  const { deadlineMs } = settings;
  await app.stop(deadlineMs === undefined ? {} : { deadlineMs });
  await pool?.end();
}

async function trigger(hook: HookName, count: number, inTurn: boolean): Promise<string[]> {
  const triggered: Promise<{ id: string }>[] = [];
  for (let index = 0; index < count; index++) {
    const one = app.hooks[hook].trigger("");
    if (inTurn) await one;
    triggered.push(one);
  }
  return (await Promise.all(triggered)).map(({ id }) => id);
}

async function answer(request: WorkerRequest): Promise<string[]> {
  if (request.do === "trigger") return trigger(request.hook, request.count, request.inTurn ?? false);
  if (request.do === "open" && request.hook !== "holdDeaf") gates.hold.resolve();
  if (request.do === "open" && request.hook !== "hold") gates.holdDeaf.resolve();
  if (request.do === "wake") app.wake();
  if (request.do === "stop") await stop();
  return [];
}

process.on("message", ({ number, request }: { number: number; request: WorkerRequest }) => {
  answer(request).then(
    (ids) => {
      say({ say: "done", request: number, ids });
      if (request.do === "stop") process.disconnect();
    },
    (error: unknown) => say({ say: "failed", request: number, problem: String(error) }),
  );
});
process.on("SIGTERM", () => void stop().then(() => process.disconnect()));
say({ say: "ready" });
