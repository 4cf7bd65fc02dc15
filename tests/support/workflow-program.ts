/**
 * A process that runs workflows, for tests that kill it, stop it and take its database away. It does what its parent asks over
 * the channel between them, and writes down what the bodies of steps do in a file, which outlives it.
 */
import { appendFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { perdure } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";
import type { DatabaseAdapter } from "../../src/store/store.ts";
import type { WorkflowBindings } from "../../src/workflows/instances/workflow-binding.ts";
import { openCountingDatabase } from "./counting-database.ts";
import { createCountingPool, StatementLog } from "./counting-pool.ts";
import { type BodyEntry, createPrograms } from "./workflow-programs.ts";
import type { WorkflowMessage, WorkflowProcessSettings, WorkflowRequest } from "./workflow-settings.ts";

flushCompileCache(); // now, because a process that is killed has no other moment for it
const settings = JSON.parse(process.argv[2] ?? "") as WorkflowProcessSettings;
const gate = Promise.withResolvers<void>();
const log = new StatementLog();
const { database, worker = {}, countStatements = false } = settings;

const workflows = createPrograms({
  gate: gate.promise,
  write: (entry: BodyEntry) => appendFileSync(settings.ledger, `${JSON.stringify(entry)}\n`),
});
const counted = countStatements ? openCounted() : undefined;
const app = await perdure({ database: counted?.adapter ?? database, workflows, worker });

function openCounted(): { adapter: DatabaseAdapter; close(): Promise<void> } {
  if (!database.startsWith("postgres")) {
    const location = () => database;
    const handle = Object.assign(openCountingDatabase(database, log.texts), { location });
    return { adapter: sqlite(handle), close: async () => void handle.close() };
  }
  const pool = createCountingPool(database, log);
  pool.on("error", () => {});
  return {
    adapter: postgres(pool),
    close: async () => {
      await pool.end();
    },
  };
}

function say(message: WorkflowMessage): void {
  process.send?.(message);
}

async function stop(): Promise<void> {
  await app.stop();
  await counted?.adapter.store.close();
  await counted?.close();
}

async function answer(request: WorkflowRequest): Promise<unknown> {
  switch (request.do) {
    case "open":
      return gate.resolve();
    case "create": {
      const { create } = app.workflows[request.program] as WorkflowBindings[string];
      await Promise.all(request.ids.map((id) => create({ id, params: request.params })));
      return;
    }
    case "result": {
      const instance = await app.workflows[request.program].get(request.id);
      return instance.result({ timeout: request.timeoutMs });
    }
    case "event": {
      const instance = await app.workflows[request.program].get(request.id);
      return instance.sendEvent({ type: "go", payload: request.payload });
    }
    case "statements":
      return log.texts.splice(0);
    case "stop":
      return stop();
  }
}

process.on("message", ({ number, request }: { number: number; request: WorkflowRequest }) => {
  answer(request).then(
    (value) => {
      say({ say: "done", request: number, value });
      if (request.do === "stop") process.disconnect();
    },
    (error: unknown) => say({ say: "failed", request: number, problem: String(error) }),
  );
});
process.on("SIGTERM", () => void stop().then(() => process.disconnect()));
say({ say: "ready" });
