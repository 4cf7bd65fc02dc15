import { inspect } from "node:util";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { fromPg, perdure } from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENCRYPTED, ENGINES, type TestEngine, type TestStore } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { readRawText } from "./support/raw-text.ts";
import { secret, secretError, secretive, secretsIn } from "./support/secrets.ts";

/** An id, which isn't hidden: by it we know that the scan sees something. */
const ID = "an-open-id";
/** Nor are labels. */
const LABEL = "an-open-label";

const options = (database: TestStore, { hooks, workflows }: ReturnType<typeof secretive>, logger: LogBook) => ({
  database: database.adapter,
  hooks,
  workflows,
  logger,
  captureTraceContext: () => ({ traceparent: secret("trace context").secret }),
  keepCompleted: "1 hour" as const,
});

/** Stores something in every way there is, while nothing runs. */
async function storeEverything(database: TestStore, parts: ReturnType<typeof secretive>, logger: LogBook) {
  await using app = await perdure({ ...options(database, parts, logger), worker: false });
  const instance = await app.workflows.everything.create({ id: ID, params: secret("params") });
  await instance.sendEvent({ type: "word", payload: secret("event") });
  await instance.sendEvent({ type: "other", payload: secret("event that nobody waits for") });
  await app.workflows.broken.createBatch([{ id: ID, params: secret("params of a batch") }]);
  await app.workflows.undone.create({ id: ID, params: secret("params in a line"), labels: { tenant: LABEL } });
  await app.schedules.runNow({ workflow: "scheduled" });
  await app.hooks.slow.trigger(secret("first trigger"), { key: ID });
  await app.hooks.note.trigger(secret("own id"), { id: ID });
  await app.hooks.fail.trigger(secret("dead letter"));
  await app.hooks.retry.trigger(secret("retry"));
  await app.unitOfWork(async (uow) => uow.triggerHook("note", secret("unit of work")));
  if (database.location.startsWith("postgres")) {
    const client = new pg.Client(database.location);
    await client.connect();
    await client.query("begin");
    await app.within(fromPg(client)).triggerHook("note", secret("relay"), { key: ID });
    await app.within(fromPg(client)).triggerHook("note", secret("transaction"));
    await client.query("commit");
    await client.end();
  }
  const progress = { cursor: secret("cursor"), meta: secret("meta") };
  const subjects = [{ subjectKey: ID, ...progress }];
  await app.subjects.dispatcher("imports").syncSubjects({ subjects });
}

/** Runs all of it, and looks at the database while a trigger is stored beside a running hook, and in the end. */
async function runEverything(database: TestStore, parts: ReturnType<typeof secretive>, logger: LogBook) {
  const { seen, open } = parts;
  const ran = (what: string) => waitUntil(`${what} has run`, () => seen.includes(secret(what).secret));
  await using app = await perdure({ ...options(database, parts, logger), worker: { onError: () => {} } });
  await ran("first trigger");
  await ran("progress");
  await app.hooks.slow.trigger(secret("next trigger"), { key: ID });
  const during = await readRawText(database);
  open();
  const everything = await app.workflows.everything.get(ID);
  const result = await everything.result();
  const failure = await (await app.workflows.broken.get(ID)).result().catch((error: Error) => error.cause);
  const undone = await app.workflows.undone.get(ID);
  await undone.result().catch(() => {});
  const undoing = [await undone.status(), await undone.history()];
  const told = ["error to be undone", "output told to a hook"];
  for (const what of ["next trigger", "own id", "unit of work", ...told]) await ran(what);
  if (database.location.startsWith("postgres")) for (const what of ["relay", "transaction"]) await ran(what);
  const [dead] = await waitUntil("a dead letter is there", async () => {
    const { hooks } = await app.durableHooks.deadLetters();
    return hooks.length > 0 && hooks;
  });
  const dispatcher = app.subjects.dispatcher("imports");
  const [claimed] = await dispatcher.claimDueSubjects({ limit: 1, leaseMs: 60_000 });
  const { revision } = await dispatcher.checkpointSubject({
    subjectKey: ID,
    revision: claimed?.revision ?? 0,
    cursor: secret("checkpoint"),
    meta: secret("new meta"),
  });
  const failed = await dispatcher.failSubject({ subjectKey: ID, revision, error: secretError("error of a subject") });
  const history = await everything.history();
  await app.workflows.everything.restartOrCreate({ id: ID, params: secret("params of a restart"), when: "always" });
  const { earlierRuns } = await everything.history();
  await app.stop();
  const read = inspect([result, failure, undoing, dead, claimed, failed, history, earlierRuns, seen], { depth: null });
  return { texts: [during, await readRawText(database)], read };
}

async function useEverything(engine: TestEngine) {
  const logger = new LogBook();
  const database = await engine.create({ logger });
  const parts = secretive();
  try {
    await storeEverything(database, parts, logger);
    const before = await readRawText(database);
    const { texts, read } = await runEverything(database, parts, logger);
    return { texts: [before, ...texts], read, logs: inspect(logger.lines, { depth: null }) };
  } finally {
    await database.dispose();
  }
}

describe.each(ENCRYPTED)("on $name", (engine) => {
  test("no value of a user can be read in the database or in the log", async () => {
    const { texts, read, logs } = await useEverything(engine);

    for (const text of texts) {
      expect(secretsIn(text)).toEqual([]);
      expect(text).toContain(ID);
      expect(text).toContain(LABEL);
      expect(text).toContain("$perdure");
    }
    expect(secretsIn(logs)).toEqual([]);
    const seen = secretsIn(read).map((text) => text.trim());
    const wanted = [
      ...["params", "event", "dead letter", "cursor", "checkpoint", "new meta", "result of a step", "error of a step"],
      ...["error of a hook", "error of a workflow", "error of a subject", "error of a rollback", "output to be undone"],
    ];
    for (const what of wanted) expect(seen).toContain(secret(what).secret);
  });
});

describe.each(ENGINES)("without a codec on $name", (engine) => {
  test("everything can be read, so the scan above sees every value", async () => {
    const { texts } = await useEverything(engine);
    const found = new Set(texts.flatMap(secretsIn).map((text) => text.trim()));
    const expected = [
      ...["params", "event", "event that nobody waits for", "params of a batch", "params of a child", "trace context"],
      ...[
        "first trigger",
        "next trigger",
        "own id",
        "dead letter",
        "retry",
        "unit of work",
        "cursor",
        "meta",
        "checkpoint",
      ],
      ...["result of a step", "error of a step", "error of a hook", "error of a retry", "error of a workflow"],
      ...[
        "params in a line",
        "params of a schedule",
        "params of a restart",
        "output told to a hook",
        "error to be undone",
      ],
      ...["chunk of a stream", "output to be undone", "error of a rollback"],
      ...[
        "error of a subject",
        "new meta",
        "progress",
        ...(engine.dialect === "postgres" ? ["relay", "transaction"] : []),
      ],
    ];
    for (const what of expected) expect(found).toContain(secret(what).secret);
  });
});
