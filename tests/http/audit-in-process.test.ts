import { describe, expect, test } from "vitest";
import { type AuditedChange, defineHook, defineWorkflow, perdure } from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { useHttp } from "./support/use-http.ts";

const rest = defineWorkflow(
  { name: "rest", schedules: [{ cron: "0 0 1 1 *", name: "yearly" }] },
  async (_event, step) => {
    await step.sleep("long", "1 year");
  },
);
const hopeless = defineHook({ retries: { limit: 0 } }, async () => {
  throw new Error("secret");
});

describe.each(ENGINES)("the changes of operators in process on $name", (engine) => {
  const subject = useHttp(engine);

  async function start() {
    const changes: AuditedChange[] = [];
    const app = await subject.start({
      workflows: { resting: rest },
      hooks: { hopeless },
      onAudit: (change) => changes.push(change),
    });
    return { app, changes, told: () => changes.splice(0).map(({ at: _, ...change }) => change) };
  }

  const one = { kind: "instance", workflowName: "rest", instanceId: "one" } as const;
  const done = { ids: [], outcome: "done", code: null } as const;

  test("are reported with the operator's name, the action, the target and the outcome", async () => {
    const { app, changes, told } = await start();
    await app.workflows.resting.create({ id: "one" });
    expect(changes).toEqual([]); // the application itself creates instances all day
    const ada = app.actingAs("ada");
    const order = await ada.instances.get("resting", "one");
    await order.pause();
    await order.resume();
    await order.restart();
    await order.sendEvent({ type: "news", payload: "secret" });
    await order.terminate();
    await expect(order.pause()).rejects.toMatchObject({ code: "instance.finished" });
    await order.delete();
    await expect(order.delete()).rejects.toMatchObject({ code: "instance.not_found" });
    const by = { actor: "ada", target: one, ...done };
    expect(JSON.stringify(changes)).not.toContain("secret");
    expect(changes.every(({ at }) => at instanceof Date)).toBe(true);
    expect(told()).toEqual([
      { action: "pauseInstance", ...by },
      { action: "resumeInstance", ...by },
      { action: "restartInstance", ...by },
      { action: "sendEvent", ...by },
      { action: "terminateInstance", ...by },
      { action: "pauseInstance", ...by, outcome: "refused", code: "instance.finished" },
      { action: "deleteInstance", ...by },
      { action: "deleteInstance", ...by, outcome: "refused", code: "instance.not_found" },
    ]);
  });

  test("are reported without a name where the application's own objects are used", async () => {
    const { app, told } = await start();
    const created = await app.workflows.resting.create({ id: "one" });
    await created.pause();
    await (await app.workflows.resting.get("one")).resume();
    await (await app.instances.get("rest", "one")).terminate();
    const { instance } = await app.workflows.resting.restartOrCreate({ id: "one" });
    await instance.pause();
    expect(told().map(({ actor, action, target }) => [actor, action, target])).toEqual(
      ["pauseInstance", "resumeInstance", "terminateInstance", "pauseInstance"].map((action) => [null, action, one]),
    );
  });

  test("have the ids of what a named operator creates and deletes", async () => {
    const { app, told } = await start();
    const { workflows } = app.actingAs("ada");
    const { id } = await workflows.resting.create();
    await workflows.resting.createBatch([{ id: "two" }, { id: "three" }]);
    await workflows.resting.createBatch({ instances: [{ id: "two" }, { id: "four" }] });
    await workflows.resting.restartOrCreate({ id: "two", when: ["waiting", "queued", "running"] });
    await workflows.resting.createOrSend({ id: "five", event: { type: "news" } });
    await workflows.resting.deleteBatch([id, "two"]);
    expect(told().map(({ action, ids, outcome }) => [action, ids, outcome])).toEqual([
      ["createInstance", [id], "done"],
      ["createBatch", ["two", "three"], "done"],
      ["createBatch", ["four"], "done"],
      ["restartOrCreate", ["two"], "done"],
      ["createOrSend", ["five"], "done"],
      ["deleteBatch", [id, "two"], "done"],
    ]);
  });

  test("of subjects are reported: those of a named operator, and each that is made due", async () => {
    const { app, told } = await start();
    const own = app.subjects.dispatcher("stock");
    await own.syncSubjects({ subjects: [{ subjectKey: "a", nextDueAt: new Date(0) }] });
    const claim = async () => (await own.claimDueSubjects({ limit: 1, leaseMs: 60_000 }))[0]?.revision as number;
    await own.releaseSubject({ subjectKey: "a", revision: await claim() }); // as a handler does all day
    expect(told()).toEqual([]);
    const ada = app.actingAs("ada").subjects.dispatcher("stock");
    await ada.releaseSubject({ subjectKey: "a", revision: await claim() });
    await ada.makeSubjectDue("a");
    await own.makeSubjectDue("a");
    await expect(own.makeSubjectDue("none")).rejects.toMatchObject({ code: "subject.not_found" });
    await claim();
    await expect(ada.makeSubjectDue("a")).rejects.toMatchObject({ code: "subject.leased" });
    await expect(ada.releaseSubject({ subjectKey: "a", revision: 99 })).rejects.toThrow();
    const a = { kind: "subject", dispatcherId: "stock", subjectKey: "a" };
    expect(told().map(({ actor, action, target, outcome }) => [actor, action, target, outcome])).toEqual([
      ["ada", "releaseSubject", a, "done"],
      ["ada", "makeSubjectDue", a, "done"],
      [null, "makeSubjectDue", a, "done"],
      [null, "makeSubjectDue", { ...a, subjectKey: "none" }, "refused"],
      ["ada", "makeSubjectDue", a, "refused"],
      ["ada", "releaseSubject", a, "refused"],
    ]);
    expect((await ada.getSubject("a"))?.subjectKey).toBe("a");
  });

  test("of hooks and schedules are reported", async () => {
    const { app, told } = await start();
    const { id } = await app.hooks.hopeless.trigger(undefined);
    const { durableHooks, schedules } = app.actingAs("ada");
    await eventually(async () => expect((await durableHooks.get(id))?.status).toBe("failed"));
    await durableHooks.redrive([id]);
    await eventually(async () => expect((await durableHooks.get(id))?.status).toBe("failed"));
    await durableHooks.discard(id);
    await durableHooks.cancel({ name: "hopeless", key: "none" });
    await schedules.pause({ workflow: "rest", name: "yearly" });
    await schedules.resume({ workflow: "rest", name: "yearly" });
    const run = await schedules.runNow({ workflow: "rest" });
    await expect(schedules.pause({ workflow: "rest", name: "no" })).rejects.toMatchObject({
      code: "schedule.not_found",
    });
    const yearly = { kind: "schedule", workflowName: "rest", scheduleName: "yearly" };
    const hooks = { kind: "hooks" };
    expect(told().map(({ action, target, ids, code }) => [action, target, ids, code])).toEqual([
      ["redriveHooks", hooks, [id], null],
      ["discardHooks", hooks, [id], null],
      ["cancelHooks", hooks, [], null],
      ["pauseSchedule", yearly, [], null],
      ["resumeSchedule", yearly, [], null],
      ["runSchedule", { kind: "workflow", workflowName: "rest" }, [run.id], null],
      ["pauseSchedule", { ...yearly, scheduleName: "no" }, [], "schedule.not_found"],
    ]);
  });

  test("are reported once if they are requested over HTTP, to the application and to the handler", async () => {
    const { app, told } = await start();
    const entries: unknown[] = [];
    const client = subject.serve(app, {
      authorize: () => ({ allow: true, caller: "bob" }),
      onAudit: (entry) => entries.push(entry),
    });
    await client.post("/workflows/rest/instances", { id: "one" });
    await client.post("/workflows/rest/instances/one/pause", {});
    expect(told().map(({ actor, action }) => [actor, action])).toEqual([
      ["bob", "createInstance"],
      ["bob", "pauseInstance"],
    ]);
    expect(entries).toHaveLength(2);
  });

  test("are done although onAudit throws, and that is logged", async () => {
    const logger = new LogBook();
    const app = await subject.start({
      workflows: { resting: rest },
      logger,
      onAudit: () => {
        throw new Error("The disk is full.");
      },
    });
    const instance = await app.workflows.resting.create();
    await instance.pause();
    expect(logger.lines.map(({ message }) => message)).toContain("onAudit failed.");
  });
});

test("perdure refuses an onAudit that can't be called, and an operator without a name", async () => {
  await expect(perdure({ database: ":memory:", onAudit: "log" as never })).rejects.toMatchObject({
    code: "options.invalid",
  });
  await using app = await perdure({ database: ":memory:" });
  expect(() => app.actingAs("")).toThrow(expect.objectContaining({ code: "text.invalid" }));
});
